package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/internal/sbom"
	"github.com/nomen-project/nomen/internal/testrun"
)

var commitTime = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)

func TestParseVersion(t *testing.T) {
	for _, tt := range []struct {
		full, packaged string
		tagged         bool
	}{
		{"v1.2.3", "1.2.3", true},
		{"1.2.3", "1.2.3", true},
		{"v1.2.3-dirty", "1.2.3+dirty", false},
		{"v1.2.3-rc.1", "1.2.3~rc.1", true},
		{"v1.2.3-45-g3c968c93", "1.2.3+45.g3c968c93", false},
		{"v1.2.3-rc-1-45-g3c968c93-dirty", "1.2.3~rc.1+45.g3c968c93+dirty", false},
		{"3c968c93", "0~20261123060000.g3c968c93", false},
		{"12345678-dirty", "0~20261123060000.g12345678+dirty", false},
	} {
		got, err := parseVersion(tt.full, commitTime)
		if want := (releaseVersion{tt.full, tt.packaged, tt.tagged}); got != want || err != nil {
			t.Errorf("%s: got %+v, %v; want %+v", tt.full, got, err, want)
		}
	}
	for _, full := range []string{"", "devel", "v1.2.3/..", "v1 2", "v1.2.3\n", "v-1"} {
		if got, err := parseVersion(full, commitTime); err == nil {
			t.Errorf("%q: got %+v", full, got)
		}
	}
}

// dpkg must order versions by time.
func TestVersionOrder(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		testrun.Missing(t, "dpkg")
	}
	before := ""
	for _, full := range []string{"3c968c93", "v0.9.0", "v1.0.0-rc.1", "v1.0.0-rc.1-3-gabcdef01", "v1.0.0", "v1.0.0-3-gabcdef01", "v1.0.1"} {
		v, err := parseVersion(full, commitTime)
		if err != nil {
			t.Fatal(err)
		}
		if before != "" && exec.Command("dpkg", "--compare-versions", before, "lt", v.packaged+"-1").Run() != nil {
			t.Errorf("dpkg puts %s not after %s", v.packaged, before)
		}
		before = v.packaged + "-1"
	}
}

func TestClassify(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":                                                        "Apache-2.0",
		"Permission is hereby granted, free of\n charge, to":                                                  "MIT",
		"Redistribution and use in source and binary forms, with":                                             "BSD-2-Clause",
		"Redistribution and use in source and binary forms. Neither the name of":                              "BSD-3-Clause",
		"Redistribution and use in source and\nbinary forms … Apache License Version 2.0, … Neither the name": "Apache-2.0 BSD-3-Clause",
		"GNU GENERAL PUBLIC LICENSE":                                                                          "",
		"Mozilla Public License Version 2.0":                                                                  "",
		"Permission is hereby granted, free of charge … Commons\nClause":                                      "",
		"All rights reserved.":                                                                                "",
		"":                                                                                                    "",
	} {
		ids, err := classify(text)
		if got := strings.Join(ids, " "); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
}

// A module without a text of a licence, or with one that is not permitted, ends a release.
func TestModuleWithoutLicence(t *testing.T) {
	for file, text := range map[string]string{"README": "MIT", "LICENSE": "GNU General Public License"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m := linkedModule{path: "example.org/m"}
		if err := m.read(dir, "."); err == nil && m.expression() != "" {
			t.Errorf("%s: got %q", file, m.expression())
		}
	}
}

// The table of package sbom has what the program links today.
func TestLicencesFresh(t *testing.T) {
	modules, err := linkedModules("../..", platforms()...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../internal/sbom/licences.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, table(modules)) {
		t.Errorf("internal/sbom/licences.tsv is not fresh: run go generate ./internal/sbom")
	}
	text := string(copyright(modules))
	for _, want := range []string{"\nFiles: std/*\nCopyright: 2009 The Go Authors.\n", "\nFiles: github.com/cockroachdb/pebble/v2/internal/cache/*\n", "SoundCloud", "EMBL-EBI"} {
		if !strings.Contains(text, want) {
			t.Errorf("copyright lacks %q", want)
		}
	}
	if strings.Contains(text, "END OF TERMS AND CONDITIONS") {
		t.Error("copyright has the text of the Apache License")
	}
}

// Two archives of the same entries are equal, whatever their order is.
func TestTreeTar(t *testing.T) {
	var one, two tree
	one.file("b/c", []byte("1"))
	one.program("a", []byte("2"))
	one = append(one, entry{path: "tmp", mode: fs.ModeDir | fs.ModeSticky | 0o777})
	two = append(two, one[2], one[1], one[0])
	var a, b bytes.Buffer
	if err := one.tar(&a, "x", commitTime); err != nil {
		t.Fatal(err)
	}
	if err := two.tar(&b, "x", commitTime.Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the archives differ")
	}
	list := exec.Command("tar", "-tv", "--utc", "--numeric-owner")
	list.Stdin = &a
	out, err := list.CombinedOutput()
	if err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		got = append(got, f[0]+" "+f[1]+" "+f[3]+" "+f[4]+" "+f[5])
	}
	want := []string{
		"-rwxr-xr-x 0/0 2026-11-23 06:00 x/a", "drwxr-xr-x 0/0 2026-11-23 06:00 x/b/",
		"-rw-r--r-- 0/0 2026-11-23 06:00 x/b/c", "drwxrwxrwt 0/0 2026-11-23 06:00 x/tmp/",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The bill of this test program names its modules with hashes and licences, and does not
// change from one time to the next.
func TestBill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	var one, two bytes.Buffer
	if err := sbom.Write(&one, "nomen", "v1", info); err != nil {
		t.Fatal(err)
	}
	if err := sbom.Write(&two, "nomen", "v1", info); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Errorf("the second bill differs: %v", err)
	}
	if !json.Valid(one.Bytes()) {
		t.Error("invalid JSON")
	}
}
