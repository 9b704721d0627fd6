package main

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/dialect/dialecttest"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

// dialectNodes is a configuration in which two listeners speak all dialects for the same authorities.
const dialectNodes = `
[[listen]]
address = "127.0.0.1:0"
dialects = ["handle", "ark", "ezid", "arklet"]

[[listen]]
address = "127.0.0.1:0"
dialects = ["arklet", "ark", "ezid", "handle"]

[[dialect]]
name = "handle"
authorities = ["hdl:20.500.9999"]

[[dialect.identity]]
id = "300:20.500.9999/ADMIN"
token = "%[1]s"
secret-file = "%[2]s"

[[dialect]]
name = "ezid"
authorities = ["ark:99999"]

[[dialect.identity]]
id = "apitest"
token = "%[1]s"
secret-file = "%[2]s"

[[dialect]]
name = "arklet"
authorities = ["ark:99999"]

[[dialect.identity]]
id = "library"
token = "%[1]s"
secret-file = "%[2]s"

[[dialect]]
name = "ark"
authorities = ["ark:99999"]
`

// The clients of all dialects work with each store, whichever of several listeners and servers gets a
// request, and below a path.
func TestDialectsOnStores(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, mount string
		database    bool
		servers     int
	}{
		{"own store, two listeners", "", false, 1},
		{"own store, below a path", "/names", false, 1},
		{"database, two servers", "", true, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			common := []string{"--data", filepath.Join(dir, "data")}
			if tt.database {
				common = append(common, "--store", startDatabase(t, pgtest.Options{}).URL())
			}
			nomen := func(args ...string) string {
				t.Helper()
				cmd := exec.Command(os.Args[0], append(args, common...)...)
				cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(args, err)
				}
				return string(out)
			}
			nomen("authority", "put", "hdl:20.500.9999", "--owner", "archive", "--owner", "library", "--fold-case")
			nomen("authority", "put", "ark:99999", "--owner", "archive", "--owner", "library", "--mint", "n{noid:sdd}")
			nomen("put", "hdl:20.500.9999/ADMIN", "https://example.org/")
			id, _, _ := strings.Cut(nomen("token", "make", "--who", "scripts", "--role", "owner", "--prefix", "hdl:20.500.9999", "--prefix", "ark:99999"), ".")
			secret := filepath.Join(dir, "secret")
			site := filepath.Join(dir, "site.toml")
			for file, text := range map[string]string{secret: "correct-horse\n", site: fmt.Sprintf(dialectNodes, strings.TrimSpace(id), secret)} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			runner := &dialecttest.Runner{
				Client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
				Variables: map[string]string{
					"HANDLE": basicField("300%3A20.500.9999/ADMIN", "correct-horse"), "WRONG": basicField("300%3A20.500.9999/ADMIN", "wrong-horse"),
					"EZID": basicField("apitest", "correct-horse"), "KEY": "correct-horse",
				},
			}
			for i := range tt.servers {
				args := append([]string{"serve", "--admin", "127.0.0.1:0", "--config", site}, common...)
				if tt.mount != "" {
					args = append(args, "--public-url", "http://names.example.org"+tt.mount)
				}
				if i > 0 {
					args = append(args, "--data", filepath.Join(dir, fmt.Sprint("data", i)))
				}
				p, err := startCommand(os.Args[0], args...)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = p.kill() })
				for _, found := range listening.FindAllStringSubmatch(p.output(), -1) {
					if found[1] == "public" {
						runner.Bases = append(runner.Bases, "http://"+found[2]+tt.mount)
					}
				}
			}
			if len(runner.Bases) != 2*tt.servers {
				t.Fatalf("listeners: %q", runner.Bases)
			}
			runner.Run(t, "testdata/dialects.trace")
			file := downloadFromEZID(t, runner.Bases[0], filepath.Join(dir, "data", downloadsDir))
			if tt.servers > 1 { // the file is on the server that wrote it
				res, err := runner.Client.Get(runner.Bases[2] + "/download/" + file)
				if err != nil {
					t.Fatal(err)
				}
				if res.Body.Close(); res.StatusCode != 404 {
					t.Errorf("the file at another server: got %d, want 404", res.StatusCode)
				}
			}
		})
	}
}

// downloadFromEZID requests a batch download, waits for its file, and checks it. It returns the name of
// the file.
func downloadFromEZID(t *testing.T, base, dir string, fields ...string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", base+"/download_request", strings.NewReader("format=anvl&type=ark"))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("apitest", "correct-horse")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	ask := func(r *http.Request) (int, string) {
		for i := 0; i < len(fields); i += 2 {
			r.Header.Set(fields[i], fields[i+1])
		}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	status, text := ask(r)
	_, file, ok := strings.Cut(text, "/download/")
	if status != 200 || !ok {
		t.Fatalf("got %d %s, want the URL of a download", status, text)
	}
	if r, err = http.NewRequestWithContext(t.Context(), "GET", base+"/download/"+file, http.NoBody); err != nil {
		t.Fatal(err)
	}
	for status = 404; status == 404; {
		status, text = ask(r)
	}
	g, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(status, err)
	}
	plain, err := io.ReadAll(g)
	if err != nil || !strings.HasPrefix(string(plain), ":: ark:/99999/") {
		t.Errorf("got %s, %v, want a block for each ARK", plain, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", file))
	if err != nil || len(files) != 1 {
		t.Fatalf("files in %s: %q, %v", dir, files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", info, err)
	}
	return file
}

// basicField returns an Authorization field of the scheme Basic.
func basicField(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// A server that was started read-only rejects changes in each dialect, and still resolves.
func TestDialectsReadOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, site := filepath.Join(dir, "data"), filepath.Join(dir, "site.toml")
	nomen := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(os.Args[0], append(args, "--data", data)...)
		cmd.Env = append(os.Environ(), "NOMEN_TEST_PROGRAM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(args, err)
		}
		return string(out)
	}
	for _, prefix := range []string{"hdl:20.500.9999", "ark:99999"} {
		nomen("authority", "put", prefix, "--owner", "archive", "--owner", "library")
		nomen("put", prefix+"/x", "https://example.org/x")
	}
	token := strings.TrimSpace(nomen("token", "make", "--who", "scripts", "--role", "owner"))
	text := fmt.Sprintf(dialectNodes, "none", filepath.Join(dir, "secret"))
	for file, text := range map[string]string{filepath.Join(dir, "secret"): "correct-horse\n", site: text} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := startCommand(os.Args[0], "serve", "--data", data, "--admin", "127.0.0.1:0", "--config", site, "--read-only")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.kill() })
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"PUT", "/api/handles/20.500.9999/x", `[{"index":1,"type":"URL","data":"https://example.org/y"}]`, 501, `{"responseCode":5,`},
		{"DELETE", "/api/handles/20.500.9999/x", "", 501, `{"responseCode":5,`},
		{"POST", "/id/ark:/99999/x", "_target: https://example.org/y", 403, "error: forbidden"},
		{"PUT", "/id/ark:/99999/y", "", 403, "error: forbidden"},
		{"POST", "/shoulder/ark:/99999/y", "", 403, "error: forbidden"},
		{"POST", "/download_request", "format=anvl", 403, "error: forbidden"},
		{"POST", "/mint", `{"naan": 99999, "shoulder": "/y"}`, 403, ""},
		{"PUT", "/update", `{"ark": "ark:99999/x"}`, 403, ""},
		{"GET", "/api/handles/20.500.9999/x", "", 200, `{"responseCode":1,`},
		{"GET", "/id/ark:/99999/x", "", 200, "success: ark:/99999/x"},
		{"GET", "/20.500.9999/x", "", 302, "https://example.org/x"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, "http://"+p.public+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case tt.method == "GET":
		case strings.HasPrefix(tt.path, "/mint"), strings.HasPrefix(tt.path, "/update"):
			r.Header.Set("Authorization", "Bearer "+token)
		default:
			r.SetBasicAuth("apitest-2", token)
		}
		switch {
		case strings.HasPrefix(tt.path, "/api/"):
			r.Header.Set("Content-Type", "application/json")
		case tt.path == "/download_request":
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != tt.status || !strings.Contains(string(body), tt.want) {
			t.Errorf("%s %s: got %d %s (%v), want %d with %q", tt.method, tt.path, res.StatusCode, body, err, tt.status, tt.want)
		}
	}
}
