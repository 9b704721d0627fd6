//go:build clients

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// contentOf returns the content of a file here.
func contentOf(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// copied copies files of the repository into a directory of a machine.
func (m *machine) copied(t *testing.T, dir string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			m.write(t, dir+strings.TrimPrefix(file, "../.."), contentOf(t, file), 0o644)
		}
	}
}

// unpackable puts the archive of a release onto a machine, and a sudo for root.
func (m *machine) unpackable(t *testing.T) {
	t.Helper()
	const dir = "/var/tmp/nomen-1.2.3-linux-amd64"
	m.write(t, "/usr/local/bin/sudo", []byte("#!/bin/sh\nexec \"$@\"\n"), 0o755)
	if archive := released(t, "nomen-*-linux-amd64.tar.gz"); archive != "" {
		m.write(t, "/var/tmp/release.tar.gz", contentOf(t, archive), 0o644)
		m.run(t, "mkdir "+dir+" && tar -C "+dir+" --strip-components 1 -xzf /var/tmp/release.tar.gz")
	} else {
		m.copied(t, dir, "contrib/nomen.toml", "contrib/systemd/*")
		m.write(t, dir+"/nomen", contentOf(t, buildProgram(t, "v1.2.3")), 0o755)
		m.run(t, dir+"/nomen man >"+dir+"/nomen.1")
	}
	m.run(t, "tar -C /var/tmp -czf nomen-1.2.3-linux-amd64.tar.gz nomen-1.2.3-linux-amd64")
}

// withProgram puts the program, its units and a certificate onto a machine without the package.
func (m *machine) withProgram(t *testing.T) {
	t.Helper()
	m.write(t, "/usr/bin/nomen", contentOf(t, buildProgram(t, "v1.2.3")), 0o755)
	m.copied(t, homeOnMachine, "contrib/systemd/*")
	m.run(t, "mkdir /etc/nomen && cd /etc/nomen && umask 077 && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 "+
		"-subj /CN=own -addext subjectAltName=DNS:urn.example.org -keyout key.pem -out cert.pem && chmod 644 cert.pem && chmod 755 .")
}

// useDatabase puts PostgreSQL onto a machine, whose other names are db1, db2 and db3, and lets a
// server keep its names there.
func (m *machine) useDatabase(t *testing.T) {
	t.Helper()
	m.write(t, "/etc/nomen/nomen.toml", []byte("store = \"postgres://nomen@db1/names\"\nlisten = \":4500\"\n"), 0o644)
	m.run(t, `set -e
apt-get install -y -q postgresql
echo '127.0.0.1 db1 db2 db3' >>/etc/hosts
cd /etc/postgresql/15/main
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=db -addext subjectAltName=DNS:db1,DNS:db2,DNS:db3 -keyout db.key -out db.crt
chown postgres db.key
cp db.crt /usr/local/share/ca-certificates/ && update-ca-certificates
sed -i '1i host names,names2 nomen 127.0.0.1/32 trust' pg_hba.conf
printf "ssl_cert_file = '$PWD/db.crt'\nssl_key_file = '$PWD/db.key'\n" >conf.d/tls.conf
systemctl restart postgresql@15-main
for command in 'createuser nomen' 'createdb --owner nomen names' 'createdb --owner nomen names2'; do runuser -u postgres -- $command; done
cd && apt-get install -y -q ./nomen_1.0.0-1_amd64.deb -o Dpkg::Options::=--force-confold
cp /usr/bin/nomen /usr/bin/nomen-old
systemctl daemon-reload
nomen health
nomen put urn:x-library:first https://www.example.edu/collections/1`)
}

// databaseGoesBack restores a dump while a server runs, and checks what the page says about it:
// the server answers from its cache while there is no database, and what is in the database soon
// after the restore.
func (m *machine) databaseGoesBack(t *testing.T) {
	t.Helper()
	const name, late = "http://127.0.0.1:4500/urn:x-library:first", "http://127.0.0.1:4500/urn:x-library:later"
	answers := func(url, want string) {
		t.Helper()
		if got := m.run(t, "curl -si "+url); !strings.Contains(got, want) {
			t.Errorf("%s: want %q in\n%s", url, want, got)
		}
	}
	m.run(t, "runuser -u postgres -- pg_dump --format=custom names >back.dump; nomen put --replace urn:x-library:first https://www.example.edu/changed; nomen put urn:x-library:later https://www.example.edu/later")
	time.Sleep(3 * time.Second) // the node has read its own changes from the log: now it caches them
	answers(name, "https://www.example.edu/changed")
	answers(late, "https://www.example.edu/later")
	m.run(t, "runuser -u postgres -- dropdb --force names; sleep 1")
	answers(name, "https://www.example.edu/changed")
	answers(late, "detail=storage-away")
	m.run(t, "runuser -u postgres -- createdb --owner nomen names && runuser -u postgres -- pg_restore --exit-on-error --dbname names <back.dump")
	restored := time.Now()
	m.run(t, "for i in $(seq 90); do journalctl -u nomen -o cat | grep -E 'the database has (fewer|lost) changes' && exit 0; sleep 0.5; done; exit 1")
	t.Logf("the cache is emptied %v after the restore", time.Since(restored))
	answers(name, "https://www.example.edu/collections/1")
	answers(late, "HTTP/1.1 404 ")
	m.run(t, "nomen put urn:x-library:later https://www.example.edu/again && nomen verify")
	answers(late, "https://www.example.edu/again")
}
