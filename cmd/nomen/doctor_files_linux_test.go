package main

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const nobody = 65534

// Doctor reports the files of the configuration that the user of the service cannot read, although
// root, who runs doctor, can.
func TestDoctorReadsAsService(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("only root can act for other users: not tested")
		return
	}
	top := t.TempDir()
	if err := os.Chmod(filepath.Dir(top), 0o755); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(top, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(data, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(top, "nomen.toml")
	putFile(t, config, "admin = \"127.0.0.1:0\"\n[[listen]]\naddress = \"127.0.0.1:0\"\ntls = \"files\"\ncert = \""+top+"/cert.pem\"\nkey = \""+top+"/key.pem\"\n", 0o644)
	pair := testCertificate(t, time.Now().Add(-time.Hour), time.Now().Add(1000*time.Hour))
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, filepath.Join(top, "cert.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})), 0o644)
	putFile(t, filepath.Join(top, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})), 0o600)
	cannot := func() (found []string) {
		t.Helper()
		lines, _ := examined(t, "--config", config, "--data", data)
		for _, line := range lines {
			if strings.Contains(line, "cannot read") {
				found = append(found, line)
			}
		}
		return found
	}
	if openAs(nobody, []int{nobody}, top) != nil {
		t.Log("the user of the service cannot enter the temporary directory: only part is tested")
		if len(cannot()) != 3 {
			t.Errorf("%q", cannot())
		}
		return
	}
	expect(t, cannot(), "cannot read the private key of listen 1, "+top+"/key.pem")
	if err := os.Chmod(config, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, cannot(), "cannot read the private key of listen 1", "cannot read the configuration, "+config)
	if err := os.Chmod(config, 0o640); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{config, filepath.Join(top, "key.pem")} {
		if err := os.Chown(file, 0, nobody); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, 0o640); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, cannot())
	if os.Geteuid() != 0 {
		t.Error("the user of the process has changed")
	}
}

// putFile writes a file with a mode, whatever the umask is.
func putFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// A user who cannot read the data directory of the service makes no store by accident.
func TestNewStoreBesideService(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	system, home := filepath.Join(top, "system"), filepath.Join(top, "home")
	c := &cli{data: home, dataDefault: true}
	if err := c.checkNew(system); err != nil {
		t.Errorf("without a service: %v", err)
	}
	if err := os.Mkdir(system, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := c.checkNew(system); err != nil {
		t.Errorf("the service has no store yet: %v", err)
	}
	if status := run(t.Context(), []string{"put", "--data", system, "urn:example:a", "https://example.org/a"}, streams{out: io.Discard, err: io.Discard}); status != exitYes {
		t.Fatal(status)
	}
	refused := func(c *cli, want string) {
		t.Helper()
		err := c.checkNew(system)
		if want == "" && err == nil {
			return
		}
		if want == "" || err == nil || exitStatus(err) != exitUsage || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--data "+home) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	refused(c, system+", the data directory of the service, has a store: run the command as the service does, with 'sudo -u ")
	refused(&cli{data: home}, "")
	refused(&cli{data: home, dataDefault: true, store: "pebble:x"}, "")
	refused(&cli{data: system, dataDefault: true}, "")

	closed := "cannot be read by user "
	as := func(check func()) { check() }
	if os.Geteuid() == 0 {
		as = func(check func()) { asUser(nobody, nobody, check) }
	} else if err := os.Chmod(system, 0); err != nil {
		t.Fatal(err)
	}
	as(func() { refused(c, closed) })
	if err := os.Chmod(system, 0o700); err != nil {
		t.Fatal(err)
	}
}
