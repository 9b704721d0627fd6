//go:build clients

package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store/memstore"
)

// TestClientMaps lets nginx and Apache httpd serve exported maps. The servers redirect to the exact
// locations, whatever characters these contain. `make test-clients` installs the servers.
func TestClientMaps(t *testing.T) {
	locations := map[string]string{
		"plain":     "https://example.org/",
		"query":     "https://example.org/a?b=c&d=%25%2F#e",
		"dollar":    "https://example.org/$request_uri/$1/$$",
		"directive": "https://example.org/x;return(200);'include'",
		"a%2Fb":     "https://example.org/%2F",
		"a/b":       "https://example.org/slash",
		"Case":      "https://example.org/Case",
		"long":      "https://example.org/" + strings.Repeat("x", 900),
	}
	var lines bytes.Buffer
	for element, url := range locations {
		fmt.Fprintf(&lines, `{"name":"urn:example:%s","locations":[{"url":"%s"}]}`+"\n", element, url)
	}
	s := memstore.New()
	sum, err := bulk.Import(t.Context(), registrar.New(s, registrar.Options{}), registrar.Operator(), &lines, bulk.ImportOptions{})
	if err != nil || int(sum.Created) != len(locations) {
		t.Fatal(sum, err)
	}
	for _, tt := range []struct {
		name   string
		format bulk.Format
		start  func(t *testing.T, dir, file, address string) *exec.Cmd
	}{
		{"nginx", bulk.NginxMap, startNginx},
		{"apache", bulk.ApacheMap, startApache},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "names.map")
			var out bytes.Buffer
			if sum, err := bulk.Export(t.Context(), s, &out, bulk.ExportOptions{Format: tt.format}); err != nil || int(sum.Read) != len(locations) {
				t.Fatal(sum, err)
			}
			if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			address := freePort(t)
			cmd := tt.start(t, dir, file, address)
			var log bytes.Buffer
			cmd.Stdout, cmd.Stderr = &log, &log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}()
			if !listens(address) {
				t.Fatalf("%s does not listen: %s", tt.name, &log)
			}
			once := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			for element, want := range locations {
				resp, err := once.Get("http://" + address + "/urn:example:" + element)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || got != want {
					t.Errorf("%s: %d to %q, want %q", element, resp.StatusCode, got, want)
				}
			}
			resp, err := once.Get("http://" + address + "/urn:example:none")
			if err != nil || resp.StatusCode != http.StatusNotFound {
				t.Errorf("no name: %v, %v", resp, err)
			}
		})
	}
}

// listens reports whether something listens at an address, soon.
func listens(address string) bool {
	for last := time.Now().Add(startTimeout); time.Now().Before(last); <-time.After(pause) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return true
		}
	}
	return false
}

func startNginx(t *testing.T, dir, file, address string) *exec.Cmd {
	t.Helper()
	config := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path %[1]s/1; proxy_temp_path %[1]s/2; fastcgi_temp_path %[1]s/3; uwsgi_temp_path %[1]s/4; scgi_temp_path %[1]s/5;
  map_hash_bucket_size 512;
  geo $nomen_dollar { default "$"; }
  map $request_uri $nomen_location { include %[2]s; }
  server { listen %[3]s; if ($nomen_location) { return 303 $nomen_location; } return 404; }
}
`, dir, file, address)
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return exec.Command("nginx", "-c", conf)
}

// apacheModules is where Debian keeps the modules of Apache httpd.
const apacheModules = "/usr/lib/apache2/modules"

func startApache(t *testing.T, dir, file, address string) *exec.Cmd {
	t.Helper()
	modules := apacheModules
	if m := os.Getenv("NOMEN_APACHE_MODULES"); m != "" {
		modules = m
	}
	config := fmt.Sprintf(`ServerRoot %[1]s
ServerName localhost
PidFile %[1]s/pid
ErrorLog /dev/stderr
Listen %[3]s
User nobody
Group nogroup
LoadModule mpm_event_module %[4]s/mod_mpm_event.so
LoadModule authz_core_module %[4]s/mod_authz_core.so
LoadModule rewrite_module %[4]s/mod_rewrite.so
AllowEncodedSlashes NoDecode
RewriteEngine On
RewriteMap nomen txt:%[2]s
RewriteCond %%{THE_REQUEST} "^[A-Z]+ (/[^ ?]+)"
RewriteCond ${nomen:%%1} (.+)
RewriteRule ^ %%1 [R=303,NE,L,UnsafeAllow3F]
RewriteRule ^ - [R=404]
`, dir, file, address, modules)
	conf := filepath.Join(dir, "apache.conf")
	if err := os.WriteFile(conf, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	for d := dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) { // Apache reads maps as nobody
		_ = os.Chmod(d, 0o755)
	}
	return exec.Command("apache2", "-X", "-f", conf)
}
