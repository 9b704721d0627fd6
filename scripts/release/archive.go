package main

import (
	"bytes"
	"slices"
)

// archives writes two files for each architecture: the SBOM, and an archive with the program for
// systems without a package format.
func (r *release) archives() error {
	for _, p := range r.programs {
		name := "nomen-" + r.version.packaged + "-linux-" + p.arch
		t := slices.Clone(r.contrib)
		t.program("nomen", p.binary)
		t.file("LICENSE", r.licence)
		t.file("copyright", r.copyright)
		t.file("CHANGELOG.md", r.changelog)
		t.file("nomen.1", r.manual)
		t.file("completions/nomen.bash", r.bash)
		t.file("completions/_nomen", r.zsh)
		t.file("completions/nomen.fish", r.fish)
		var b bytes.Buffer
		if err := t.tar(&b, name, r.at); err != nil {
			return err
		}
		if err := r.write(name+".tar.gz", compress(b.Bytes())); err != nil {
			return err
		}
		if err := r.write(name+".cdx.json", p.sbom); err != nil {
			return err
		}
	}
	return nil
}
