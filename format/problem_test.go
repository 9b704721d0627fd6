package format

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nomen-project/nomen"
)

// The five kinds of RFC 2483, 2, come back unchanged, without their causes.
func TestProblemRoundTrip(t *testing.T) {
	for _, want := range kinds() {
		want.Why = []string{"first", "<then>"}
		sent := *want
		sent.Err = errors.New("private")
		body := written(t, WriteProblem, NewProblem(&sent, 404))
		if strings.Contains(body, "private") {
			t.Errorf("%s: the cause is shown: %s", want.Kind, body)
		}
		p, err := ReadProblem(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if p.Status != 404 || p.Title == "" || !strings.HasSuffix(p.Type, "/"+want.Kind.String()) {
			t.Errorf("%s: got type %q, title %q, status %d", want.Kind, p.Type, p.Title, p.Status)
		}
		if d := cmp.Diff(p.Err(), want, compareNames); d != "" {
			t.Errorf("%s (got -, want +):\n%s", want.Kind, d)
		}
	}
}

// An offset of 0 is written where it has a meaning.
func TestProblemOffset(t *testing.T) {
	for _, k := range []nomen.Kind{nomen.Malformed, nomen.Unknown} {
		var o map[string]any
		if err := json.Unmarshal([]byte(written(t, WriteProblem, NewProblem(&nomen.Error{Kind: k, Name: "x"}, 400))), &o); err != nil {
			t.Fatal(err)
		}
		if _, ok := o["offset"]; ok != (k == nomen.Malformed) {
			t.Errorf("%s: offset shown: %t", k, ok)
		}
	}
}

// Problem details from other software can be read.
func TestReadProblem(t *testing.T) {
	for _, tt := range []struct {
		body string
		want Problem
		kind nomen.Kind
	}{
		{`{}`, Problem{}, 0},
		{`{"type":"about:blank","title":"Not Found","status":404,"extra":[1]}`, Problem{Type: "about:blank", Title: "Not Found", Status: 404}, 0},
		{`{"type":"https://example.org/p#retired"}`, Problem{Type: "https://example.org/p#retired"}, nomen.Gone},
		{`{"type":"tag:example.org,2026:denied","legal":true}`, Problem{Type: "tag:example.org,2026:denied", Legal: true}, nomen.Denied},
		{`{"type":"no-result"}`, Problem{Type: "no-result"}, nomen.NoResult},
		{`{"type":"x/not-retired"}`, Problem{Type: "x/not-retired"}, 0},
		{`{"type":"/error"}`, Problem{Type: "/error"}, 0},
		{`{"type":"/malformed","name":"abc","offset":99}`, Problem{Type: "/malformed", Name: "abc", Offset: 3}, nomen.Malformed},
		{`{"type":"/malformed","name":"abc","offset":-1}`, Problem{Type: "/malformed", Name: "abc"}, nomen.Malformed},
		{`{"available":["text/html"],"instance":"/x"}`, Problem{Available: []string{"text/html"}, Instance: "/x"}, 0},
	} {
		got, err := ReadProblem(strings.NewReader(tt.body))
		if err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		if d := cmp.Diff(*got, tt.want); d != "" {
			t.Errorf("%s (got -, want +):\n%s", tt.body, d)
		}
		if got.Kind() != tt.kind || (got.Err() != nil) != (tt.kind != 0) {
			t.Errorf("%s: kind %d, error %v, want %d", tt.body, got.Kind(), got.Err(), tt.kind)
		}
	}
}

func TestReadProblemRefuses(t *testing.T) {
	for _, body := range []string{``, `[]`, `{"status":"404"}`, `{"answer":{"name":"%"}}`, `{"answer":[]}`, `{"offset":1e99}`, `{"suggestions":{}}`} {
		if p, err := ReadProblem(strings.NewReader(body)); err == nil {
			t.Errorf("ReadProblem(%s) = %v", body, p)
		} else if e := new(Error); !errors.As(err, &e) || p != nil {
			t.Errorf("ReadProblem(%s) = %v, %v", body, p, err)
		}
	}
}

// Each format for people says what is wrong and what to do next.
func TestProblemPages(t *testing.T) {
	for _, e := range kinds() {
		for _, accept := range []string{TypeHTML, TypeText, TypeURC} {
			body := written(t, ProblemFormat(accept).Write, NewProblem(e, 404))
			for _, want := range append([]string{e.Name, e.Message}, e.Suggestions...) {
				if !strings.Contains(strings.NewReplacer("<mark>", "", "</mark>", "", "&lt;", "<", "&gt;", ">").Replace(body), want) {
					t.Errorf("%s, %s: no %q in %s", e.Kind, accept, want, body)
				}
			}
		}
	}
	p := &Problem{Title: "Nothing acceptable", Status: 406, Available: []string{"text/html", "text/urc-0"}}
	for _, accept := range []string{TypeHTML, TypeText, TypeURC, TypeProblem} {
		if body := written(t, ProblemFormat(accept).Write, p); !strings.Contains(body, "text/urc-0") {
			t.Errorf("%s does not list what there is: %s", accept, body)
		}
	}
}

// Y95-25: a tombstone can be read from the text/urc-0 of its problem. Other problems are
// readable text, not a location.
func TestProblemURC(t *testing.T) {
	for _, e := range append(kinds(), &nomen.Error{Kind: nomen.Unknown, Name: "x", Message: "=====\nhttps://example.org/"}) {
		p := NewProblem(e, 404)
		if e.Kind == nomen.Unknown {
			p.Title = "https://example.org/"
		}
		a, err := readURC(strings.NewReader(written(t, WriteProblemURC, p)), nomen.I2C)
		if err != nil || len(a.Locations) > 0 {
			t.Fatalf("%s: %v, %v", e.Kind, a, err)
		}
		if e.Answer == nil {
			if text := a.Metadata["description"]; len(text) != 1 || !strings.Contains(text[0], e.Message) {
				t.Errorf("%s: %q", e.Kind, a.Metadata)
			}
			continue
		}
		if d := cmp.Diff(a, e.Answer, compareNames); d != "" {
			t.Errorf("%s (got -, want +):\n%s", e.Kind, d)
		}
	}
}
