// Package server serves a [nomen.Resolver] over HTTP: to clients of the resolution protocol of 1995
// (draft-ietf-uri-yaurn-00), to browsers, and to clients of THTTP (RFC 2169). Package server/admin
// serves the admin API on a listener of its own.
//
// # How a request is answered
//
// The public listener uses package internal/wire, which also accepts request lines that net/http
// rejects. The method decide answers all requests. It depends neither on connections nor on
// net/http: its input consists of plain values (method, target, version, host, address and the
// relevant header fields), and its output is a status, header fields and a body. An adapter
// connects net/http to it. The server does not use http.ServeMux to find names, because it needs
// the target exactly as the client sent it.
//
// # Targets
//
//   - ELEMENT, without a slash, is a request of the protocol of 1995. Its authority is the
//     authority of the Host field, otherwise the authority of the address at which the request
//     arrived, otherwise the default authority. The default authority does not apply if the Host
//     field names another server; the status is then 421. The response for a name is the
//     description (I2C), in text/urc-0 unless the client asks for another format.
//   - urn:... without a slash is a request to a proxy. The response is the description.
//   - http://HOST/... is like a request for the path with HOST in the Host field, if HOST is served
//     here. Requests for other hosts are rejected, unless the gateway forwards them.
//   - /urn:... and /NAME of any scheme is a web request: the server redirects to the best location,
//     or provides the default service of the authority.
//   - /ELEMENT is like ELEMENT, unless the names of the host's authority are http or https URLs:
//     then the URL of the request is the name, and the request is a web request.
//   - /uri-res/SERVICE?URI and /SERVICE?urn:... are THTTP (RFC 2169); see below.
//   - urn+m, urn+a, urn+c and urn+p instead of an element, with or without a slash, are reserved
//     requests. Any other element that begins with urn+ is an error.
//   - /, /-/..., /.well-known/..., /robots.txt and /favicon.ico are pages. An element with such a
//     name cannot be requested by its path.
//
// Percent-escapes in a target belong to the name and are kept. There are two exceptions, in paths
// only:
//
//   - If the colon after the scheme is escaped, the client has escaped the name as a whole, and the
//     server unescapes it once.
//   - If the client sends characters that no URI may contain, the server reads them as their
//     escapes.
//
// # THTTP
//
// SERVICE is a service of RFC 2169 or RFC 2483, in any letter case. The query of I=I consists of
// two URIs with an ampersand between them, so a client must escape an ampersand inside the first
// URI. For L2Ns, L2Ls and L2C, the URI is a URL. The server answers about the names with this URL
// as a location, in the spelling of the client or in normal form. THTTP has no default service: if
// the requested service is not available, the response is an error. If the name cannot be resolved
// at all, for example because it is unknown, the response is the error about the name.
//
// # Queries
//
// "?s=" and "?c=" are the directives of the URN draft of 2012. If one of these keywords is given
// twice, all its values are ignored. The server also ignores unknown keywords and services, and
// services and components that the authority of the name does not list. The other directives are
// "at=" (see Time below; giving it twice is an error), "with=" for the other URI of s=I=I, and
// "format=", which is valid together with "s=" and precedes Accept.
//
// "?+" and "?=" begin the r-component and the q-component of RFC 8141. Package resolve describes
// what they mean.
//
// Any other query, or one with a malformed component, is a plain query. What the server does with
// it depends on the target:
//
//   - If a name that is an http or https URL is registered with this query, the query belongs to
//     the name.
//   - In any other path, the query is ignored, or appended to the query of the location if the
//     authority says so.
//   - In a target without a slash, the query is rejected, because the draft of 1995 reserves the
//     question mark (2.3).
//
// # Lists of names
//
// POST /-/resolve takes names as text/uri-list or as JSON Lines. It answers each name with a line
// of JSON, in order. A line is sent as soon as its answer is known.
//
// # Resources
//
// I2R and I2Rs pass on content from other servers. The field "Content-Security-Policy: sandbox"
// keeps this content from running scripts and from acting with the origin of this server. Content
// that a browser would execute is sent as an attachment. Caches do not keep the content unless the
// authority sets a lifetime. The response to I2Rs is multipart/alternative (RFC 2169, 3.4), even
// for a resource with only one version or without a version.
//
// # Time
//
// "?at=" asks for the record of a name as of a time (RFC 3339), or as of the end of a day (UTC). A
// value that does not begin like a date is ignored, because it is meant for another program. A
// value that begins like a date but is invalid gets 400. The response depends on the time:
//
//   - Before the name was public, the name is unknown.
//   - If the revision of that time has been redacted, the status is 451.
//   - In the future, the response has no Memento-Datetime, because the answer may still change.
//   - In all other cases, the response is a memento (RFC 7089), even if it is a redirect or a
//     tombstone. Memento-Datetime is the time of the revision shown, rounded up to the second.
//
// The path of a name is its own TimeGate (RFC 7089, pattern 1.1): with Accept-Datetime, it
// redirects (302) to the memento of that time, or to the first memento for an earlier time. Every
// response for a path links to the TimeGate and to the TimeMap. The TimeMap, /-/timemap/NAME with
// the same directives, lists the mementos as application/link-format, newest first. The author of a
// revision and the reason for it are not public. Accept-Datetime is ignored for targets without a
// slash, and for targets with components of RFC 8141.
//
// # Dates and tags
//
// Last-Modified is the time of the last change, rounded up to the second and never later than Date.
// If a name changes twice within a second, a client with a copy of the first change therefore gets
// the second change when it revalidates the copy. An ETag is strong: it is a digest of the
// representation, different for each content coding. If neither the answer nor the authority sets a
// lifetime, responses have "no-cache", so that a cache must send a conditional request before every
// reuse (draft of 1995, 5). Responses that depend on the country of the client are private.
//
// Comments cite drafts by their year and section, as in "draft of 1995, 3.1"; docs/glossary.md
// lists the drafts.
package server
