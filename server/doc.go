// Package server answers over HTTP what a [nomen.Resolver] knows: to clients of
// the resolution protocol of 1995 (draft-ietf-uri-yaurn-00), to browsers, to
// clients of THTTP (RFC 2169), and to those who administer the names.
//
// # How a request is answered
//
// The public listener reads request lines that net/http refuses (package
// internal/wire). One function, [Server.decide], turns plain values (method,
// target, version, host, address, the few fields that matter) into status,
// fields and body; it knows neither connections nor net/http. An adapter stands
// between the two. Names are never routed by http.ServeMux: the target is looked
// at as it was sent.
//
// # Targets
//
//   - ELEMENT, without a slash, is one of 1995: its authority is that of the Host
//     field, else of the local address, else the default one. It is described
//     (I2C), in text/urc-0 where the client leaves the choice.
//   - urn:... without a slash is what a proxy is asked. It is described too.
//   - http://HOST/... is answered like its path with that Host, if HOST is one
//     that is served here; this server is no proxy for others.
//   - /urn:... and /NAME of any scheme is the web: it leads to the best location,
//     or does what the authority's default service says.
//   - /ELEMENT is like ELEMENT. Where the authority of the host is one of http or
//     https names, the request is for the name that is its URL, and is web.
//   - /uri-res/SERVICE?URI is THTTP, with the services of RFC 2483 too.
//   - urn+m, urn+a, urn+c and urn+p in the place of an element, with or without a
//     slash, are reserved requests; any other urn+ is an error.
//   - /, /-/..., /.well-known/..., /robots.txt and /favicon.ico are pages and go
//     before any ELEMENT.
//
// A target keeps its escapes: they are the name's. Two kinds of escaping by
// others are undone, on paths alone: a name of which the colon behind the scheme
// is escaped was escaped as a whole, and is unescaped once; and characters that no
// URI has, which some clients leave as they are, are read as their escapes.
//
// # Queries
//
// "?s=" and "?c=" are the directives of 2012: a keyword given twice is ignored, so
// are unknown keywords and services. "?+" and "?=" are the components of RFC
// 8141. A q-component is appended to the query of the location, after "&" if there
// is one already, before its fragment; an r-component goes to the resolver and has
// no further effect. Any other query of a path is ignored, as is a component
// that is malformed. Without a slash the rules of 1995 hold: there everything
// else that begins with "?" is reserved (2.3) and refused.
//
// # Time
//
// "?at=" asks how a name was at a time of RFC 3339, or at the end of a day, UTC. A
// value that does not begin like a date is somebody else's and ignored as above; one
// that does and is none is 400. The answer is a memento (RFC 7089): Memento-Datetime
// is the time of the revision that it shows, rounded up to the second, also of
// redirections and tombstones. Before the name was public it is unknown; where the
// content was redacted it is refused for legal reasons (451).
//
// A path of a name is its own TimeGate (pattern 1.1): with Accept-Datetime it
// answers 302 to the memento, the first one for earlier times. Every answer on a
// path links to it, and to the TimeMap: /-/timemap/NAME, with the same directives,
// lists the mementos as application/link-format, the newest first. Who made a
// revision, and why, is not told in public. Targets without a slash and those with
// components of RFC 8141 are not negotiated.
//
// # Dates and tags
//
// Last-Modified is the time of the last change, rounded up to the second and never
// later than Date: so a client that asked within the second of a change learns of
// the next one in that second. An ETag is strong: a digest of the representation.
// Descriptions are sent with "no-cache": every reuse is preceded by a conditional
// request (1995, 5).
package server
