package store_test

import (
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/store"
)

// TestInterpret covers N12-30 to N12-35 and RFC 8141, 2.3.1.
func TestInterpret(t *testing.T) {
	policy := store.Policy{
		Keywords:   map[string][]string{"c": {"toc", "a b"}},
		RComponent: map[string]string{"de": "lang=de", "toc": "s=I2C&c=toc", "all": "s=I2Ls", "us": "country=US&type=text/html", "odd": "c=cover"},
	}
	few := store.Policy{Services: []nomen.Service{nomen.I2Ls, nomen.I2C, nomen.I2R}, Keywords: map[string][]string{"s": {"I2C", "I2R"}}}
	sends := few
	sends.Fetch = true
	for _, tt := range []struct {
		title   string
		policy  store.Policy
		service nomen.Service // of the authority
		q, want nomen.Question
		answers nomen.Service
	}{
		{"an empty question", policy, "", nomen.Question{}, nomen.Question{}, nomen.I2L},
		{"the authority's default", policy, nomen.I2C, nomen.Question{}, nomen.Question{}, nomen.I2C},
		{"the question's default takes precedence", policy, nomen.I2C, nomen.Question{Default: nomen.I2N}, nomen.Question{Default: nomen.I2N}, nomen.I2N},
		{"a language leaves the service", policy, "", nomen.Question{Service: nomen.I2C, R: "de"}, nomen.Question{Service: nomen.I2C, R: "de", Languages: "de"}, nomen.I2C},
		{"a language leaves the component", policy, "", nomen.Question{Component: "toc", R: "de"}, nomen.Question{Component: "toc", R: "de", Languages: "de"}, nomen.I2L},
		{"an explicit service takes precedence over the r-component", policy, "", nomen.Question{Service: nomen.I2N, Component: "a b", R: "toc"}, nomen.Question{Service: nomen.I2N, Component: "a b", R: "toc"}, nomen.I2N},
		{"a service by r-component", policy, "", nomen.Question{R: "all"}, nomen.Question{Service: nomen.I2Ls, R: "all"}, nomen.I2Ls},
		{"country and type replace the client's", policy, "", nomen.Question{R: "us", Country: "FI", Accept: "*/*"}, nomen.Question{R: "us", Country: "US", Accept: "text/html"}, nomen.I2L},
		{"N12-31 component by r-component", policy, "", nomen.Question{R: "odd"}, nomen.Question{R: "odd"}, nomen.I2L},
		{"an unknown r-component", policy, "", nomen.Question{R: "x"}, nomen.Question{R: "x"}, nomen.I2L},
		{"N12-31 value of c", policy, "", nomen.Question{Component: "cover"}, nomen.Question{}, nomen.I2L},
		{"N12-30 unknown keyword", few, "", nomen.Question{Component: "toc"}, nomen.Question{}, nomen.I2Ls},
		{"N12-32 unknown service", policy, "", nomen.Question{Service: "I2X"}, nomen.Question{}, nomen.I2L},
		{"N12-32 not offered", few, "", nomen.Question{Service: nomen.I2N}, nomen.Question{}, nomen.I2Ls},
		{"N12-35 not a value of s", few, "", nomen.Question{Service: nomen.I2Ls, Default: nomen.I2C}, nomen.Question{Default: nomen.I2C}, nomen.I2C},
		{"a default that is not in the directive s", few, "", nomen.Question{Default: nomen.I2Ls}, nomen.Question{Default: nomen.I2Ls}, nomen.I2Ls},
		{"resources are not sent", few, "", nomen.Question{Service: nomen.I2R}, nomen.Question{Service: nomen.I2R}, nomen.I2Ls},
		{"resources are sent", sends, "", nomen.Question{Service: nomen.I2R}, nomen.Question{Service: nomen.I2R}, nomen.I2R},
		{"strict", policy, nomen.I2C, nomen.Question{Service: nomen.I2N, Strict: true, R: "all"}, nomen.Question{Service: nomen.I2N, Strict: true, R: "all"}, nomen.I2N},
		{"strict, service not in the directive s", few, "", nomen.Question{Service: nomen.I2Ls, Strict: true}, nomen.Question{Service: nomen.I2Ls, Strict: true}, nomen.I2Ls},
		{"strict, not offered", few, "", nomen.Question{Service: nomen.I2N, Strict: true}, nomen.Question{Strict: true}, nomen.I2N},
	} {
		t.Run(tt.title, func(t *testing.T) {
			a := &store.Authority{Service: tt.service, Policy: tt.policy}
			q := tt.q
			m := a.Interpret(&q, true)
			if q != tt.want || m.Service != tt.answers || m.Offered != (tt.title != "strict, not offered") {
				t.Errorf("got %+v, %+v, want %+v and %s", m, q, tt.want, tt.answers)
			}
			if again := q; q.Service != "" && !q.Strict {
				if second := a.Interpret(&again, true); again != q || second.Service != m.Service {
					t.Errorf("interpreted twice: %+v, %+v", second, again)
				}
			}
			var nobody *store.Authority
			if m := nobody.Interpret(&nomen.Question{Service: nomen.I2C, R: "toc"}, true); m.Service != nomen.I2C || m.Directives != "" {
				t.Errorf("without an authority: %+v", m)
			}
		})
	}
}
