package format

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/accept"
)

// RFC 9110, 12.5.1; Y95-34, Y95-45.
func TestNegotiate(t *testing.T) {
	const none = "406"
	for _, tt := range []struct{ accept, want string }{
		// The client has no preference.
		{"", "urc"},
		{"*/*", "urc"},
		{"text/*", "urc"},
		{"application/*", "json"},
		{"TEXT/HTML, TEXT/PLAIN", "html"},
		// It has one.
		{"text/html", "html"},
		{"Text/Html", "html"},
		{"text/urc-0", "urc"},
		{"application/linkset+json", "linkset-json"},
		{"application/linkset", "linkset"},
		{"text/plain;q=0.1", "text"},
		// Weights.
		{"text/html;q=0.5, application/json", "json"},
		{"text/html;q=0.5, application/json;q=0.501", "json"},
		{"text/html;q=0.500,application/json;q=0.5", "html"},
		{"audio/*; q=0.2, audio/basic", "urc"}, // nothing acceptable: the fallback
		{"text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c", "html"},
		{"text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5", "text"},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", "html"}, // a browser
		{"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "html"},                       // Java
		// Specificity takes precedence over weight.
		{"*/*, text/urc-0;q=0.1", "html"},
		{"text/*;q=0, text/plain, */*;q=0.1", "text"},
		{"*/*;q=1, text/*;q=0", "json"},
		{"text/html;q=0.2, text/html;charset=utf-8;q=0.9, text/*;q=0.3", "html"},
		{"*/*;charset=utf-8, text/urc-0;q=0.1, text/html;q=0", "uri-list"},
		// Among equals, named formats precede others.
		{"application/json, text/plain, */*", "json"},
		{"*/*, text/plain", "text"},
		{"text/*, application/json", "json"},
		// Parameters.
		{"text/html;charset=utf-8", "html"},
		{`text/html;Charset="UTF-8"`, "html"},
		{`text/html;charset="ut\f-8"`, "html"},
		{"application/json;charset=utf-8", "json"},
		{"text/html;charset=iso-8859-1, text/plain;q=0.1", "text"},
		{"text/html;level=1, text/plain;q=0.1", "text"},
		{"text/html;q=0.5;level=1, text/plain;q=0.1", "text"}, // q at any position
		{"text/html ; q=0.5 ; , text/plain;q=0.1", "html"},
		{"text/html;;q=0.1, text/plain;q=0.2", "text"},
		{"text/html;Q=0.1, text/plain;q=0.2", "text"},
		// Nothing acceptable: the fallback, unless it is excluded.
		{"image/png", "urc"},
		{"image/png, text/urc-0;q=0", "html"},
		{"text/urc-0;q=0", "html"},
		{"text/urc-0;q=0, */*", "html"},
		{"text/*;q=0", "json"},
		{"*/*;q=0", none},
		{"*/*;q=0.000, image/png", none},
		{"*/*;q=0, text/plain;q=0.001", "text"},
		{"text/*;q=0, application/*;q=0", none},
		// Malformed elements are ignored.
		{"text/html;q=2, text/plain", "text"},
		{"text/html;q=1.001, text/plain;q=0.1", "text"},
		{"text/html;q=0.1234, text/plain;q=0.1", "text"},
		{"text/html;q=, text/plain;q=0.1", "text"},
		{"text/html;q=\"0.5\", text/plain;q=0.1", "text"},
		{"text/html;q=-1, text/plain;q=0.1", "text"},
		{"text/html;q=0.1;q=1, text/plain;q=0.01", "text"},
		{"text/html;q = 1, text/plain;q=0.1", "text"},
		{"text/html x, text/plain;q=0.1", "text"},
		{"text, text/plain;q=0.1", "text"},
		{"text/, text/plain;q=0.1", "text"},
		{"/html, text/plain;q=0.1", "text"},
		{"*/html, text/plain;q=0.1", "text"},
		{"text/html;a, text/plain;q=0.1", "text"},
		{"text/html;a=, text/plain;q=0.1", "text"},
		{`text/html;a="b,c", text/plain;q=0.1`, "text"},
		{`text/html;a="b\",c"x, text/plain;q=0.1`, "text"},
		{`text/plain, text/html;a="b, text/urc-0`, "text"},
		{`text/plain, text/html;a="b\`, "text"},
		{"\x00\xff", "urc"},
		{";q=0", "urc"},
		{"q=0", "urc"},
		// Empty elements.
		{", ,\t, text/html,,", "html"},
		{",", "urc"},
		// Limits.
		{"text/plain," + strings.Repeat(" ", accept.MaxField), "urc"},
		{strings.Repeat("a/b,", accept.MaxElements) + "text/plain", "urc"},
		{strings.Repeat("a/b,", accept.MaxElements-1) + "text/plain", "text"},
	} {
		got := none
		if f, ok := Negotiate(tt.accept, Formats(), Formats()[0]); ok {
			got = f.Name
		}
		if got != tt.want {
			t.Errorf("Negotiate(%.90q) = %s, want %s", tt.accept, got, tt.want)
		}
	}
}

// The order of the offers decides, and the fallback need not be one of them.
func TestNegotiateOffers(t *testing.T) {
	html, _ := ByName("html")
	json, _ := ByName("json")
	text, _ := ByName("text")
	offers := []Format{html, json}
	for _, tt := range []struct{ accept, want string }{
		{"", "html"}, {"*/*", "html"}, {"image/png", "text"}, {"image/png, text/plain;q=0", "html"}, {"text/*;q=0", "json"},
	} {
		if f, ok := Negotiate(tt.accept, offers, text); f.Name != tt.want || !ok {
			t.Errorf("Negotiate(%q) = %q, %t, want %q", tt.accept, f.Name, ok, tt.want)
		}
	}
	if f, ok := Negotiate("*/*", nil, text); ok {
		t.Errorf("of no offers it chose %q", f.Name)
	}
}

// A problem is never 406.
func TestProblemFormat(t *testing.T) {
	for _, tt := range []struct{ accept, want string }{
		{"", "text/plain; charset=utf-8"},
		{"*/*", "text/plain; charset=utf-8"},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8"},
		{"application/problem+json", "application/problem+json"},
		{"application/json", "application/problem+json"},
		{"application/linkset+json, text/plain;q=0.5", "application/problem+json"},
		{"application/*", "application/problem+json"},
		{"text/urc-0", "text/urc-0"},
		{"text/urc-0, */*;q=0.1", "text/urc-0"},
		{"image/png", "text/plain; charset=utf-8"},
		{"image/png, text/plain;q=0", "text/html; charset=utf-8"},
		{"*/*;q=0", "text/plain; charset=utf-8"},
	} {
		if got := ProblemFormat(tt.accept).ContentType(); got != tt.want {
			t.Errorf("ProblemFormat(%q) = %q, want %q", tt.accept, got, tt.want)
		}
	}
}

// text/plain has no structure, and is used only if no other format is possible.
func TestPlainTextComesLast(t *testing.T) {
	all := Formats()
	excluded := "*/*"
	for _, f := range all[:len(all)-1] {
		if got, ok := Negotiate(excluded, all, all[0]); !ok || got.Name != f.Name {
			t.Errorf("Y95-52: Accept: %s: got %s, %v; want %s", excluded, got.Name, ok, f.Name)
		}
		excluded += ", " + f.MediaType + ";q=0"
	}
	if got, ok := Negotiate(excluded, all, all[0]); !ok || got.MediaType != TypeText {
		t.Errorf("Y95-52: Accept: %s: got %s, %v; want text/plain", excluded, got.Name, ok)
	}
}
