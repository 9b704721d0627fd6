package pgstore

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestParseConfig(t *testing.T) {
	c, err := parseConfig("postgres://u:secret@a,b:5433,[::1]:5434/names?sslmode=prefer&pool=7&wait=2s&lag=0s&search_path=x")
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for _, s := range c.servers {
		hosts = append(hosts, fmt.Sprintf("%s:%d", s.Host, s.Port))
		if len(s.Fallbacks) != 1 || s.Fallbacks[0].Host != s.Host || (s.TLSConfig == nil) == (s.Fallbacks[0].TLSConfig == nil) {
			t.Errorf("%s: not one way with TLS and one without", s.Host)
		}
		params := s.RuntimeParams
		if params["search_path"] != "x" || params["application_name"] != "nomen" || params["statement_timeout"] != "30000" || len(params) != 3 {
			t.Errorf("parameters for the server: %v", params)
		}
		if s.ConnectTimeout != defaultConnect {
			t.Errorf("timeout of connecting: %v", s.ConnectTimeout)
		}
	}
	if got := strings.Join(hosts, " "); got != "a:5432 b:5433 ::1:5434" {
		t.Errorf("servers %s", got)
	}
	if c.pool != 7 || c.wait != 2*time.Second || c.lag != 0 {
		t.Errorf("%d, %v, %v", c.pool, c.wait, c.lag)
	}
	c, err = parseConfig("postgresql://a/names?connect_timeout=9&statement_timeout=1000&application_name=x&sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	s := c.servers[0]
	if s.ConnectTimeout != 9*time.Second || s.RuntimeParams["statement_timeout"] != "1000" || s.RuntimeParams["application_name"] != "x" || len(s.Fallbacks) != 0 {
		t.Errorf("what was said is not what holds: %v, %v", s.ConnectTimeout, s.RuntimeParams)
	}
}

func TestParseConfigRefuses(t *testing.T) {
	for _, url := range []string{
		"", "names", "host=a user=u", "mysql://u:secret@a/names",
		"postgres://u:secret@a/names?pool=0", "postgres://u:secret@a/names?pool=x",
		"postgres://u:secret@a/names?wait=5", "postgres://u:secret@a/names?lag=-1s",
		"postgres://u:secret@a:x/names", "postgres://u:secret@a/names?sslmode=maybe",
	} {
		c, err := parseConfig(url)
		if err == nil {
			t.Errorf("%q: %+v, want an error", url, c)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows the password: %v", url, err)
		}
	}
}
