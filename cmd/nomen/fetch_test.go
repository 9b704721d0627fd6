package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nomen-project/nomen/fetch/fetchtest"
)

// TestFetchScripts runs the commands that follow names and locators, with servers
// of each kind: $WEB, $FTP, $GOPHER, $WHOIS and $NEWS are their addresses.
func TestFetchScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/fetch",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NOMEN_DATA", e.WorkDir+"/data")
			web := httptest.NewServer(http.HandlerFunc(webForFetch))
			e.Defer(web.Close)
			e.Setenv("WEB", web.Listener.Addr().String())
			return startOld(e)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "serve": serve},
	})
}

// webForFetch is a site. Its page /cut is truncated, unless the client requests only the rest of
// it.
func webForFetch(w http.ResponseWriter, r *http.Request) {
	const digits = "0123456789"
	switch path := r.URL.Path; {
	case path == "/greek":
		w.Header().Set("Content-Type", "text/plain; charset=ISO-8859-7")
		_, _ = io.WriteString(w, "\xe1\xe2")
	case path == "/digits", path == "/cut" && r.Header.Get("Range") != "":
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(w, r, "digits.bin", time.Unix(1e9, 0), strings.NewReader(digits))
	case path == "/cut":
		w.Header().Set("ETag", `"one"`)
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, digits[:4])
	case path == "/away":
		http.Redirect(w, r, "/digits", http.StatusFound)
	case path == "/telnet":
		http.Redirect(w, r, "telnet://lib.example/", http.StatusFound)
	case path == "/inside":
		http.Redirect(w, r, "http://127.1:8080/", http.StatusFound)
	case path == "/chunks":
		_, _ = io.WriteString(w, digits)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case path == "/nowhere":
		w.Header().Set("Location", "http://no host/")
		w.WriteHeader(http.StatusFound)
	case path == "/name":
		w.Header().Set("Location", "urn:dns:example.org:digits")
		w.WriteHeader(http.StatusFound)
	case path == "/busy":
		w.WriteHeader(http.StatusTooManyRequests)
	case path == "/broken":
		w.WriteHeader(http.StatusInternalServerError)
	case strings.HasPrefix(path, "/gateway/"):
		_, _ = io.WriteString(w, r.RequestURI)
	default:
		http.NotFound(w, r)
	}
}

// startOld starts the servers of the old protocols.
func startOld(e *testscript.Env) error {
	for name, start := range map[string]func() (*fetchtest.Server, error){
		"FTP": func() (*fetchtest.Server, error) {
			return fetchtest.FTP(fetchtest.Files{Texts: map[string]string{"/pub/a.txt": "one\ntwo\n", "/pub/b.bin": "0123456789"}})
		},
		"GOPHER": func() (*fetchtest.Server, error) {
			return fetchtest.Line(func(line string) string {
				if line == "" {
					return "iWelcome\tfake\t(NULL)\t0\r\n0About\t0/About\tgopher.example\t70\r\n.\r\n"
				}
				return "selected " + line + "\r\n.\r\n"
			})
		},
		"WHOIS": func() (*fetchtest.Server, error) {
			return fetchtest.Line(func(line string) string { return "about " + line + "\r\n" })
		},
		"NEWS": func() (*fetchtest.Server, error) {
			return fetchtest.News(map[string]string{"ARTICLE <a@b.example>": "220 0 <a@b.example>\nSubject: x\n\nbody\n.", "ARTICLE <no@b.example>": "430 gone"})
		},
	} {
		s, err := start()
		if err != nil {
			return err
		}
		e.Defer(func() { s.Close() })
		e.Setenv(name, s.Addr)
	}
	return nil
}

func TestParseLauncher(t *testing.T) {
	l, err := parseLauncher("telnet -8 [-l {user}] {host} [{port}]")
	want := [][]string{{"-8"}, {"-l", "{user}"}, {"{host}"}, {"{port}"}}
	if err != nil || l.Program != "telnet" || len(l.Args) != len(want) {
		t.Fatalf("got %+v, %v", l, err)
	}
	for i := range want {
		if strings.Join(l.Args[i], " ") != strings.Join(want[i], " ") {
			t.Errorf("group %d: %q, want %q", i, l.Args[i], want[i])
		}
	}
	for _, bad := range []string{"", "  ", "telnet [-l {user}"} {
		if l, err := parseLauncher(bad); err == nil {
			t.Errorf("parseLauncher(%q) = %+v, want an error", bad, l)
		}
	}
}

func TestParseSizeAndSpan(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "1000": 1000, "2K": 2 << 10, "500M": 500 << 20, "1GiB": 1 << 30, "3tb": 3 << 40} {
		if got, err := parseSize(in); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "M", "-1", "1X", "1 M", "99999999999T", "0x10"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", in, got)
		}
	}
	for in, want := range map[string][2]int64{"": {0, 0}, "5-": {5, 0}, "0-0": {0, 1}, "2-4": {2, 3}} {
		if from, n, err := parseSpan(in); err != nil || from != want[0] || n != want[1] {
			t.Errorf("parseSpan(%q) = %d, %d, %v; want %v", in, from, n, err, want)
		}
	}
	for _, in := range []string{"5", "-5", "4-2", "a-b", "1-2-3", "99999999999999999999-"} {
		if from, n, err := parseSpan(in); err == nil {
			t.Errorf("parseSpan(%q) = %d, %d, want an error", in, from, n)
		}
	}
}
