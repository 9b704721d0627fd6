package client

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// Validators identify a version of an answer. With them, a later request can ask whether the answer
// is still current (1995, 5: Y95-67; RFC 9110, 8.8). They can be stored.
type Validators struct {
	From     string `json:"from"`              // identifies the request to which the validators belong
	Tag      string `json:"tag,omitempty"`     // ETag
	Modified string `json:"modified,omitzero"` // Last-Modified
}

// Dated reports whether v has a modification date, without which an answer must not be reused
// (Y95-67).
func (v Validators) Dated() bool {
	_, err := http.ParseTime(v.Modified)
	return err == nil
}

// ErrUnchanged means that the caller's answer is still current; see [Client.ResolveIf].
var ErrUnchanged = errors.New("client: the answer is unchanged")

// conditions returns the header fields that make a request conditional. The key is the identity of
// the request.
func (v Validators) conditions(key string) []field {
	if v.From == "" || v.From != key {
		return nil
	}
	return slices.DeleteFunc([]field{{"If-None-Match", v.Tag}, {"If-Modified-Since", v.Modified}}, func(f field) bool {
		return f.value == "" || !validHeader(f.value)
	})
}

func (r *reply) validators() Validators {
	if hasDirective(r.header, "no-store") {
		return Validators{}
	}
	v := Validators{From: r.from, Tag: r.header.Get("ETag"), Modified: r.header.Get("Last-Modified")}
	if v.Tag == "" && v.Modified == "" {
		return Validators{}
	}
	return v
}

// renewed returns the validators after a 304 response. It keeps the validators of v that the
// response does not repeat (RFC 9110, 15.4.5).
func (v Validators) renewed(r *reply) Validators {
	if hasDirective(r.header, "no-store") {
		return Validators{}
	}
	v.Tag, v.Modified = cmp.Or(r.header.Get("ETag"), v.Tag), cmp.Or(r.header.Get("Last-Modified"), v.Modified)
	return v
}

// hasDirective reports whether Cache-Control has the given directive (RFC 9111, 5.2.2), with or
// without a value.
func hasDirective(h http.Header, directive string) bool {
	for d := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		key, _, _ := strings.Cut(strings.TrimSpace(d), "=")
		if strings.EqualFold(key, directive) {
			return true
		}
	}
	return false
}
