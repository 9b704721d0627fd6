package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/internal/durable"
)

// safe is text that may appear in a support bundle, because it contains no names, addresses or
// secrets.
type safe string

// concealed replaces text that must not appear in a support bundle.
const concealed = "…"

// hidden converts an argument of a diagnosis for a support bundle. It does not change numbers,
// durations and safe text. It replaces an error by the title of the error in
// docs/reference/errors.md. For all other arguments, it returns concealed.
func hidden(arg any) any {
	switch v := arg.(type) {
	case safe, int, int64, uint64, float64, bool, time.Duration, os.FileMode:
		return v
	case error:
		if f := failureOf(v); f != nil {
			return f.title
		}
	}
	return safe(concealed)
}

func (d *doctor) writeBundle() error {
	f, err := os.OpenFile(d.bundle, os.O_WRONLY|os.O_CREATE|os.O_EXCL, durable.Private)
	if err != nil {
		return err
	}
	compressed := gzip.NewWriter(f)
	archive := tar.NewWriter(compressed)
	for _, file := range []struct {
		name string
		text []byte
	}{
		{"versions.txt", d.bundledVersions()},
		{"doctor.txt", d.bundledResults()},
		{"options.txt", d.bundledOptions()},
		{"metrics.txt", d.bundledMetrics()},
	} {
		head := &tar.Header{Name: "nomen-support/" + file.name, Mode: int64(durable.Private), Size: int64(len(file.text)), ModTime: clock()}
		if err := archive.WriteHeader(head); err != nil {
			return errors.Join(err, f.Close(), os.Remove(d.bundle))
		}
		if _, err := archive.Write(file.text); err != nil {
			return errors.Join(err, f.Close(), os.Remove(d.bundle))
		}
	}
	err = errors.Join(archive.Close(), compressed.Close(), f.Sync(), f.Close())
	if err != nil {
		return errors.Join(err, os.Remove(d.bundle))
	}
	fmt.Fprintf(d.err, "nomen: %s written; look through it before you send it\n", printable(d.bundle))
	return nil
}

func (d *doctor) bundledVersions() []byte {
	b, err := json.MarshalIndent(map[string]any{
		"program": versionText(), "revision": build().Revision, "server": d.version.Version,
		"go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH, "processors": runtime.NumCPU(),
	}, "", "  ")
	if err != nil {
		panic("nomen: " + err.Error()) // it has only strings and numbers
	}
	return append(b, '\n')
}

func (d *doctor) bundledResults() []byte {
	var b bytes.Buffer
	for _, f := range d.all {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", f.State, f.Check, f.bare)
	}
	return b.Bytes()
}

// bundledOptions returns the options that are set, as text. It includes the values only of numbers,
// durations and switches, because other values may contain names or secrets.
func (d *doctor) bundledOptions() []byte {
	var b bytes.Buffer
	d.options.VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			return
		}
		value := concealed
		switch f.Value.Type() {
		case "bool", "int", "float64", "duration", "uint16":
			value = f.Value.String()
		}
		fmt.Fprintf(&b, "%s = %s\n", f.Name, value)
	})
	return b.Bytes()
}

func (d *doctor) bundledMetrics() []byte {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.metrics)) {
		if !strings.Contains(name, "{") {
			fmt.Fprintf(&b, "%s %v\n", name, d.metrics[name])
		}
	}
	return []byte(b.String())
}
