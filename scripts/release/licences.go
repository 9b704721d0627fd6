package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A linkedModule is a module whose code is in the program, with the texts of its licences.
type linkedModule struct {
	path, version string
	texts         []licenceText
}

// A licenceText is a file with the terms of a licence, or with a notice that these terms require.
type licenceText struct {
	file string // path within the module
	text string
	ids  []string // SPDX identifiers of the licences; empty for a notice
}

// marks has the phrases by which classify recognizes a licence. The program may contain only
// modules with these licences.
var marks = []struct{ phrase, without, id string }{
	{"apache license version 2.0", "", "Apache-2.0"},
	{"permission is hereby granted, free of charge", "", "MIT"},
	{"redistribution and use in source and binary forms", "neither the name", "BSD-2-Clause"},
	{"neither the name", "", "BSD-3-Clause"},
	{"permission to use, copy, modify, and/or distribute", "", "ISC"},
}

// refused has phrases that forbid something that the Apache License permits. If a text has one of
// them, classify returns an error.
var refused = []string{"general public license", "mozilla public license", "business source license", "server side public license", "commons clause", "noncommercial", "non-commercial"}

// classify returns the SPDX identifiers of the licences in a text, sorted.
func classify(text string) ([]string, error) {
	plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, phrase := range refused {
		if strings.Contains(plain, phrase) {
			return nil, fmt.Errorf("licence not permitted: %q", phrase)
		}
	}
	var ids []string
	for _, m := range marks {
		if strings.Contains(plain, m.phrase) && (m.without == "" || !strings.Contains(plain, m.without)) {
			ids = append(ids, m.id)
		}
	}
	if ids == nil {
		return nil, errors.New("unknown licence")
	}
	slices.Sort(ids)
	return ids, nil
}

// expression returns the licences of a module as an SPDX expression.
func (m linkedModule) expression() string {
	var ids []string
	for _, t := range m.texts {
		ids = append(ids, t.ids...)
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " AND ")
}

// A listedPackage is a package in the output of go list.
type listedPackage struct {
	Dir    string
	Module *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version, Dir string }
	}
}

// linkedModules returns the modules with code in the command in dir, on any of the given platforms,
// such as linux/amd64. The licences of a module are those of its linked packages. The first module
// is the standard library, with the path "std".
func linkedModules(dir string, platforms ...string) ([]linkedModule, error) {
	found := map[string]*linkedModule{}
	for _, p := range platforms {
		packages, err := listPackages(dir, p)
		if err != nil {
			return nil, err
		}
		for _, pkg := range packages {
			if err := addPackage(found, pkg); err != nil {
				return nil, err
			}
		}
	}
	std, err := standardLibrary(dir)
	if err != nil {
		return nil, err
	}
	all := []linkedModule{std}
	for _, m := range found {
		all = append(all, *m)
	}
	slices.SortFunc(all[1:], func(a, b linkedModule) int { return strings.Compare(a.path, b.path) })
	for _, m := range all {
		if m.expression() == "" {
			return nil, fmt.Errorf("%s: no licence found", m.path)
		}
	}
	return all, nil
}

func listPackages(dir, platform string) (all []listedPackage, err error) {
	goos, goarch, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", "./cmd/nomen")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && !p.Module.Main {
			all = append(all, p)
		}
	}
}

// addPackage adds the licence texts for a package. They are in its directory, or above it up to the
// root of its module.
func addPackage(found map[string]*linkedModule, p listedPackage) error {
	m := p.Module
	if m.Replace != nil {
		m.Path, m.Version, m.Dir = m.Replace.Path, m.Replace.Version, m.Replace.Dir
	}
	if found[m.Path] == nil {
		found[m.Path] = &linkedModule{path: m.Path, version: m.Version}
	}
	rel, err := filepath.Rel(m.Dir, p.Dir)
	if err != nil {
		return err
	}
	for at := filepath.ToSlash(rel); ; at = path.Dir(at) {
		if err := found[m.Path].read(m.Dir, at); err != nil {
			return err
		}
		if at == "." {
			return found[m.Path].read(m.Dir, "licenses")
		}
	}
}

func (m *linkedModule) read(root, dir string) error {
	entries, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		return nil // the module has no such directory
	}
	for _, e := range entries {
		file, name := path.Join(dir, e.Name()), strings.ToLower(e.Name())
		isNotice := strings.HasPrefix(name, "notice")
		isTerms := strings.HasPrefix(name, "licen") || strings.HasPrefix(name, "copying") || dir == "licenses"
		known := slices.ContainsFunc(m.texts, func(t licenceText) bool { return t.file == file })
		if e.IsDir() || known || !isNotice && !isTerms || strings.HasSuffix(name, ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return err
		}
		t := licenceText{file: file, text: string(text)}
		if !isNotice {
			if t.ids, err = classify(t.text); err != nil {
				return fmt.Errorf("%s: %s: %w", m.path, file, err)
			}
		}
		m.texts = append(m.texts, t)
	}
	return nil
}

func standardLibrary(dir string) (linkedModule, error) {
	cmd := exec.Command("go", "env", "GOROOT", "GOVERSION")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return linkedModule{}, fmt.Errorf("go env: %w", err)
	}
	env := strings.Fields(string(out))
	std := linkedModule{path: "std", version: strings.TrimPrefix(env[1], "go")}
	return std, std.read(env[0], ".")
}

// table returns the source code of the table in package sbom.
func table(modules []linkedModule) []byte {
	var b bytes.Buffer
	b.WriteString("# Made by go generate: the modules that the program can link, and their SPDX licence expressions.\n")
	for _, m := range modules {
		fmt.Fprintf(&b, "%s\t%s\n", m.path, m.expression())
	}
	return b.Bytes()
}

const copyrightHead = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: nomen
Source: https://github.com/nomen-project/nomen
Comment:
 The program is statically linked. After its own licence, this file has those of the Go
 modules that it contains, each with the path of the module as its file name, and those of
 the data that it contains.

Files: *
Copyright: the nomen authors
License: Apache-2.0

Files: public/bioregistry.tsv
Copyright: none, by dedication to the public domain; from https://bioregistry.io
License: CC0-1.0
 On Debian systems, the full text is in /usr/share/common-licenses/CC0-1.0. It is also at
 https://creativecommons.org/publicdomain/zero/1.0/legalcode.

Files: public/identifiers.tsv
Copyright: EMBL-EBI; from https://registry.identifiers.org, shortened and converted
License: CC-BY-4.0
 The full text is at https://creativecommons.org/licenses/by/4.0/legalcode.

`

const copyrightTail = `License: Apache-2.0
 On Debian systems, the full text is in /usr/share/common-licenses/Apache-2.0. It is also at
 https://www.apache.org/licenses/LICENSE-2.0.
`

// copyright returns a file with all licences, in the machine-readable format of Debian.
func copyright(modules []linkedModule) []byte {
	b := bytes.NewBufferString(copyrightHead)
	for _, m := range modules {
		notices := m.notices()
		for _, t := range m.texts {
			if t.ids == nil {
				continue
			}
			files := path.Join(m.path, path.Dir(t.file), "*")
			if strings.HasPrefix(t.file, "licenses/") {
				files = path.Join(m.path, t.file) // the licence covers some files, but its text does not say which
			}
			fmt.Fprintf(b, "Files: %s\nCopyright: %s\nLicense: %s\n", files, holders(m, t), strings.Join(t.ids, " and "))
			if slices.Compare(t.ids, []string{"Apache-2.0"}) != 0 {
				b.WriteString(indent(withoutApache(t.text)))
			}
			if notices != "" {
				b.WriteString("Comment:\n" + indent(notices))
				notices = ""
			}
			b.WriteByte('\n')
		}
	}
	b.WriteString(copyrightTail)
	return b.Bytes()
}

// notices returns the notices of a module that its licences require.
func (m linkedModule) notices() string {
	var b strings.Builder
	for _, t := range m.texts {
		if t.ids == nil {
			b.WriteString(t.text + "\n")
		}
	}
	return b.String()
}

// holders returns the copyright lines in a licence text.
func holders(m linkedModule, t licenceText) string {
	var found []string
	for line := range strings.Lines(t.text) {
		line = strings.Trim(line, " \t\r\n*/#")
		if rest, ok := strings.CutPrefix(line, "Copyright "); ok && !strings.Contains(rest, "[") && strings.ContainsAny(rest, "0123456789") {
			found = append(found, strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(rest, "(c)"), "(C)")))
		}
	}
	if found == nil {
		return "the authors of " + m.path
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), "\n ")
}

// withoutApache replaces the Apache License in a text by a reference to it.
func withoutApache(text string) string {
	const end = "END OF TERMS AND CONDITIONS"
	before, rest, found := strings.Cut(text, "Apache License\n")
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return text
	}
	return strings.TrimRight(before, " ") + "[the Apache License, version 2.0]\n" + after
}

// indent indents a text for a field of a control file.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(strings.ReplaceAll(text, "\r", ""))) {
		if line = strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " \n"); line == "" {
			line = "."
		}
		b.WriteString(" " + line + "\n")
	}
	return b.String()
}
