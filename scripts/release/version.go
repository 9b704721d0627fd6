package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A releaseVersion is a version in the forms that the parts of a release need.
type releaseVersion struct {
	full     string // as git describes the tree and nomen version prints it: "v1.2.3", "v1.2.3-45-g3c968c93-dirty"
	packaged string // as in packages and file names: "1.2.3", "1.2.3+45.g3c968c93+dirty"; dpkg and rpm order it correctly
	tagged   bool   // the tree is exactly a tagged commit
}

// Forms of the output of git describe: described is for a commit after a tag, and untagged for a
// tree without tags. The third expression, released, matches a version.
var (
	described = regexp.MustCompile(`^(.+)-([0-9]+)-(g[0-9a-f]{7,})$`)
	untagged  = regexp.MustCompile(`^[0-9a-f]{7,40}$`)
	released  = regexp.MustCompile(`^v?[0-9][0-9A-Za-z.+-]*$`)
)

// parseVersion parses the output of "git describe --tags --always --dirty". Versions of a tree
// without tags are ordered by the time of the commit.
func parseVersion(full string, at time.Time) (releaseVersion, error) {
	v := releaseVersion{full: full}
	rest, isDirty := strings.CutSuffix(full, "-dirty")
	base, since := rest, ""
	if m := described.FindStringSubmatch(rest); m != nil {
		base, since = m[1], "+"+m[2]+"."+m[3]
	}
	switch {
	case untagged.MatchString(base):
		v.packaged = "0~" + at.UTC().Format("20060102150405") + ".g" + base
	case released.MatchString(base):
		// A pre-release must come before its release: 1.2.3~rc.1 < 1.2.3.
		number, pre, isPre := strings.Cut(strings.TrimPrefix(base, "v"), "-")
		if isPre {
			number += "~" + strings.ReplaceAll(pre, "-", ".")
		}
		v.packaged = number + since
		v.tagged = since == "" && !isDirty
	case full == "":
		return v, errors.New("no version: set VERSION, such as VERSION=v1.2.3")
	default:
		return v, fmt.Errorf("invalid version %q: want for example v1.2.3", full)
	}
	if isDirty {
		v.packaged += "+dirty"
	}
	return v, nil
}
