package client

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// Validators are what a resolver gave with an answer for asking later whether it
// still holds (1995, 5: Y95-67; RFC 9110, 8.8). They can be stored.
type Validators struct {
	From     string `json:"from"`              // which request was answered; they are for no other
	Tag      string `json:"tag,omitempty"`     // ETag
	Modified string `json:"modified,omitzero"` // Last-Modified
}

// Dated reports whether v has a date of modification: an answer without one is
// not to be used again (Y95-67).
func (v Validators) Dated() bool {
	_, err := http.ParseTime(v.Modified)
	return err == nil
}

// ErrUnchanged is the error of [Client.ResolveIf] when the answer that the caller
// has still holds.
var ErrUnchanged = errors.New("client: the answer is unchanged")

// conditions returns the fields that make a request, which is described by from,
// conditional.
func (v Validators) conditions(from string) []field {
	if v.From == "" || v.From != from {
		return nil
	}
	return slices.DeleteFunc([]field{{"If-None-Match", v.Tag}, {"If-Modified-Since", v.Modified}}, func(f field) bool {
		return f.value == "" || !validHeader(f.value)
	})
}

// validators returns what r says for asking again. What is not to be stored has
// none.
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

// renewed returns the validators for the next time after a 304, which need not
// repeat them (RFC 9110, 15.4.5).
func (v Validators) renewed(r *reply) Validators {
	if hasDirective(r.header, "no-store") {
		return Validators{}
	}
	if tag := r.header.Get("ETag"); tag != "" {
		v.Tag = tag
	}
	if modified := r.header.Get("Last-Modified"); modified != "" {
		v.Modified = modified
	}
	return v
}

// hasDirective reports whether Cache-Control has a directive (RFC 9111, 5.2.2),
// perhaps with a value.
func hasDirective(h http.Header, directive string) bool {
	for d := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		key, _, _ := strings.Cut(strings.TrimSpace(d), "=")
		if strings.EqualFold(key, directive) {
			return true
		}
	}
	return false
}
