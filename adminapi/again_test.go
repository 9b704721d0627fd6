package adminapi

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A roundTrip answers requests in place of a server.
type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// A request that was one too many is sent again after the time that the server names, in
// seconds or as a date, but after a second at the earliest and a minute at the latest.
func TestSendAgain(t *testing.T) {
	problem, err := json.Marshal(NewProblem(&RateError{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after string // a number of seconds; as a date if it begins with @
		want  time.Duration
	}{
		{"", time.Second},
		{"soon", time.Second},
		{"0", time.Second},
		{"7", 7 * time.Second},
		{"3600", time.Minute},
		{"99999999999999999999", time.Minute},
		{"@7", 7 * time.Second},
		{"@-7", time.Second},
		{"@3600", time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			start, sent := time.Now(), []time.Duration(nil)
			after := tt.after
			if seconds, ok := strings.CutPrefix(after, "@"); ok {
				d, err := time.ParseDuration(seconds + "s")
				if err != nil {
					t.Fatal(err)
				}
				after = start.Add(d).UTC().Format(http.TimeFormat)
			}
			c := &Client{URL: "http://127.0.0.1:1", HTTP: &http.Client{Transport: roundTrip(func(*http.Request) *http.Response {
				sent = append(sent, time.Since(start))
				if len(sent) == 1 {
					return &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {after}}, Body: io.NopCloser(strings.NewReader(string(problem)))}
				}
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"version":"1.2.3"}`))}
			})}}
			if v, err := c.Version(t.Context()); err != nil || v.Version != "1.2.3" || len(sent) != 2 || sent[1] != tt.want {
				t.Errorf("Retry-After %q: got %v, %v; sent at %v, want 0s and %s", after, v, err, sent, tt.want)
			}
		})
	}
}
