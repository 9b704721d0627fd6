package main

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"os"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/systemd"
)

type namedFile struct {
	path, what string
	private    bool
}

// namedFiles returns the configuration file and the files that the server reads because of its
// configuration. It omits credentials of the service, because systemd reads them on behalf of the
// server.
func (d *doctor) namedFiles() (all []namedFile) {
	seen := map[string]bool{"": true}
	add := func(path, what string, private bool) {
		if !seen[path] && !systemd.IsCredential(path) {
			seen[path] = true
			all = append(all, namedFile{path, what, private})
		}
	}
	add(d.config, "the configuration", false)
	specs, _ := d.listeners(d.flags) // errors are reported by the check of the configuration
	for i := range specs {
		if s := &specs[i]; s.tls == tlsFiles {
			add(s.key, "the private key of "+s.title, true)
			add(s.cert, "the certificate of "+s.title, false)
		}
	}
	add(d.text("tls-key"), "the private key of --tls-key", true)
	for _, option := range []string{"acme-root", "registry", "country-db", "table", "public-table"} {
		if path := d.text(option); path != noTable {
			add(path, "the file of --"+option, false)
		}
	}
	add(d.text("acme-eab-key-file"), "the key of --acme-eab-key-file", true)
	add(d.flags.publish.key, "the private key of --log.key", true)
	return all
}

// checkNamedFiles reports files that the server cannot read. It assumes that the server runs as the
// owner of the data directory.
func (d *doctor) checkNamedFiles(check string, data fs.FileInfo) {
	owner := durable.OwnerOf(data)
	for _, f := range d.namedFiles() {
		if err := readAs(data, f.path); errors.Is(err, fs.ErrPermission) {
			d.problem(check, "give this user permission to read the file and to enter the directories above it, or make it a credential of the service if it has a key (LoadCredential in the unit)",
				"user %s, who owns %s, cannot read %s, %s", owner, d.data, f.what, f.path)
		}
	}
}

// checkFileCertificates checks the certificate files of all listeners. It is used if there is no
// public URL. With a public URL, checkCertificate checks the certificate that clients see.
func (d *doctor) checkFileCertificates() {
	const check = "certificate"
	specs, _ := d.listeners(d.flags)
	seen := map[[2]string]bool{}
	for i := range specs {
		s := &specs[i]
		pair := [2]string{s.cert, s.key}
		if s.tls != tlsFiles || s.cert == "" || seen[pair] || systemd.IsCredential(s.cert) || systemd.IsCredential(s.key) {
			continue
		}
		seen[pair] = true
		switch loaded, err := tls.LoadX509KeyPair(s.cert, s.key); {
		case errors.Is(err, os.ErrPermission):
			d.warning(check, "run doctor as the user of the server or as root", "%s: %s", safe(s.title), err)
		case err != nil:
			d.problem(check, "correct the certificate and the key of this listener", "%s: %s", safe(s.title), err)
		default:
			d.certificate(check, loaded.Leaf, nil)
		}
	}
}
