package main

import (
	"encoding/base64"
	"fmt"
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
		})
	}
}

// basicField returns an Authorization field of the scheme Basic.
func basicField(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}
