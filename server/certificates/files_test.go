package certificates

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pair returns a self-signed certificate with a number, and its key, as PEM.
func pair(t *testing.T, number int64, begins time.Time, life time.Duration) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: ours}, DNSNames: []string{ours},
		NotBefore: begins, NotAfter: begins.Add(life),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := encode(private, [][]byte{der})
	if err != nil {
		t.Fatal(err)
	}
	end := strings.Index(string(text), "-----BEGIN CERTIFICATE")
	return string(text[end:]), string(text[:end])
}

func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path+".new", []byte(text), 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

// serial returns the number of the certificate of a handshake with a configuration.
func serial(config *tls.Config) (int64, error) {
	c, err := config.GetCertificate(&tls.ClientHelloInfo{ServerName: ours})
	if err != nil || c == nil {
		return 0, errors.Join(err, errors.New("no certificate"))
	}
	return c.Leaf.SerialNumber.Int64(), nil
}

// TestFilesChange: files are read again within five seconds after they changed. Until both
// fit together, the last certificate stays in use, and the log says so once.
func TestFilesChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
		begins := time.Now().Add(-time.Hour)
		cert1, key1 := pair(t, 1, begins, 90*24*time.Hour)
		cert2, key2 := pair(t, 2, begins, 90*24*time.Hour)
		cert3, key3 := pair(t, 3, begins, 90*24*time.Hour)
		replace(t, certFile, cert1)
		replace(t, keyFile, key1)
		log := &world{log: new(bytes.Buffer)}
		f, err := NewFiles(certFile, keyFile, nil, slog.New(slog.NewTextHandler(log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		config := f.TLS()
		var running sync.WaitGroup
		running.Go(func() { f.Run(t.Context()) })
		step := func(what string, want int64, lines int) {
			t.Helper()
			time.Sleep(6 * time.Second)
			synctest.Wait()
			if got, err := serial(config); err != nil || got != want {
				t.Errorf("%s: certificate %d, %v, want %d", what, got, err, want)
			}
			if got := log.logged("\n"); got != lines {
				t.Errorf("%s: %d lines in the log, want %d:\n%s", what, got, lines, log.log)
			}
		}
		step("unchanged", 1, 0)
		replace(t, certFile, cert2)
		step("only the certificate", 1, 1)
		step("still only the certificate", 1, 1)
		if s := f.Status()[0]; !strings.Contains(s.Err, "private key") || s.Attempts == 0 || s.Host != ours {
			t.Errorf("status %+v", s)
		}
		replace(t, keyFile, key2)
		step("both", 2, 2)
		if s := f.Status()[0]; s.Err != "" || s.Attempts != 0 || s.Expires.IsZero() {
			t.Errorf("status %+v", s)
		}
		if err := os.WriteFile(certFile, []byte(cert3[:len(cert3)/2]), 0o600); err != nil { // not atomically
			t.Fatal(err)
		}
		step("half of a certificate", 2, 3)
		if err := os.Remove(keyFile); err != nil {
			t.Fatal(err)
		}
		step("without a key", 2, 4)
		replace(t, certFile, cert3)
		replace(t, keyFile, key3)
		step("both again", 3, 5)
		replace(t, certFile, "nonsense")
		if err := f.Reload(); err == nil {
			t.Error("a reload accepts what is not a certificate")
		}
		step("after a failed reload", 3, 5) // the caller of Reload logs its error
		replace(t, certFile, cert3)
		step("mended", 3, 6)
		if err := f.Reload(); err != nil {
			t.Error(err)
		}
	})
}

// TestFilesExpire: when a certificate expires soon, the log says so daily.
func TestFilesExpire(t *testing.T) {
	for _, tt := range []struct {
		life time.Duration
		days int // before the end
	}{{90 * 24 * time.Hour, 15}, {365 * 24 * time.Hour, 21}, {6 * 24 * time.Hour, 1}} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "both.pem")
			cert, key := pair(t, 1, time.Now(), tt.life)
			replace(t, file, cert+key)
			var log bytes.Buffer
			f, err := NewFiles(file, file, nil, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			for end := time.Now().Add(tt.life + 49*time.Hour); time.Now().Before(end); time.Sleep(time.Hour) {
				f.check()
			}
			soon, late := strings.Count(log.String(), "expires soon"), strings.Count(log.String(), "has expired")
			if soon < tt.days || soon > tt.days+1 || late < 2 || late > 3 {
				t.Errorf("a life of %v: logged %d times before the end, want %d, and %d times in two days after it", tt.life, soon, tt.days, late)
			}
		})
	}
}

// TestFilesUnderLoad: while files are replaced, every handshake succeeds.
func TestFilesUnderLoad(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	var certs, keys [8]string
	for i := range certs {
		certs[i], keys[i] = pair(t, int64(i+1), time.Now(), time.Hour)
	}
	replace(t, certFile, certs[0])
	replace(t, keyFile, keys[0])
	f, err := NewFiles(certFile, keyFile, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", f.TLS())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_ = c.(*tls.Conn).Handshake()
				_ = c.Close()
			}()
		}
	}()
	var ended atomic.Bool
	var clients sync.WaitGroup
	var handshakes atomic.Int64
	for range 4 {
		clients.Go(func() {
			for last := int64(0); !ended.Load(); handshakes.Add(1) {
				c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true})
				if err != nil {
					t.Error(err)
					return
				}
				n := c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
				if c.Close(); n < last {
					t.Errorf("certificate %d after %d", n, last)
				}
				last = n
			}
		})
	}
	for i := range certs {
		for _, write := range []func(){func() { replace(t, certFile, certs[i]) }, func() { replace(t, keyFile, keys[i]) }} {
			write()
			f.check()
			for now := handshakes.Load(); handshakes.Load() < now+8 && !t.Failed(); {
				time.Sleep(time.Millisecond)
			}
		}
	}
	ended.Store(true)
	clients.Wait()
	if got, err := serial(f.TLS()); err != nil || got != int64(len(certs)) {
		t.Errorf("at the end certificate %d, %v", got, err)
	}
}

func TestFilesMissing(t *testing.T) {
	if _, err := NewFiles("no-cert.pem", "no-key.pem", nil, nil); err == nil || !strings.Contains(err.Error(), "no-cert.pem") {
		t.Errorf("%v, want an error that names the file", err)
	}
}
