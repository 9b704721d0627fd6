package uri

import "strings"

// Relativize returns the shortest reference that, resolved against u as the
// base, gives exactly the target, and false if there is none: if the dialects
// differ, if u has no scheme, or if the target is a URI that resolution never
// gives, such as one with dot segments in RFC 3986. It never gives a reference
// to another host.
//
// Of references of the same length it prefers those that depend on less of the
// base. Where a dialect has the current document as a result of its own, no
// reference to that is used, because it is not the target.
func (u URI) Relativize(target URI) (URI, bool) {
	if u.scheme == 0 || u.dialect != target.dialect || target.scheme == 0 {
		return URI{}, false
	}
	var best URI
	for _, s := range relativeForms(u, target) {
		if best.IsValid() && len(s) >= len(best.s) {
			continue
		}
		ref, f := parse(u.dialect, s)
		if f.code != 0 {
			continue
		}
		if got, err := u.Resolve(ref); err == nil && got.s == target.s {
			best = ref
		}
	}
	return best, best.IsValid()
}

// relativeForms returns candidates for the shortest reference. Which of them
// mean the target is for resolution to say.
func relativeForms(base, target URI) []string {
	s := target.s
	forms := []string{s}
	if !strings.HasPrefix(s, base.s[:base.scheme+1]) {
		return forms
	}
	forms = append(forms, s[target.path:], s[target.afterScheme():]) // "/path", "//authority/path"
	if base.s[:base.path] != s[:target.path] {
		return forms
	}
	tail := s[target.query:]
	forms = append(forms, s[target.frag:], tail, "."+tail, "./"+s[target.path:], "/."+s[target.path:])
	return append(forms, climbing(base, target)...)
}

// climbing returns relative paths: with as many ".." as it takes to come to a
// directory that both have.
func climbing(base, target URI) []string {
	dir := cleanDirectory(base)
	path, tail := target.Path(), target.s[target.query:]
	common := commonDirectory(dir, path)
	up := strings.Count(dir[common:], "/")
	down := path[common:]
	forms := []string{down + tail, "./" + down + tail}
	if up > 0 {
		dots := strings.Repeat("../", up)
		forms = append(forms, dots+down+tail, dots[:len(dots)-1]+tail, dots+"./"+down+tail)
	}
	if grammars[base.dialect].schemeForms {
		forms = append(forms, elements(dir, path, tail)...)
	}
	return forms
}

// elements returns the forms of 1993 for a target without a slash at its end: a
// ".." takes the slash before it away.
func elements(dir, path, tail string) []string {
	dir, path = strings.TrimSuffix(dir, "/"), path+"/"
	common := commonDirectory(dir+"/", path)
	if common != len(path) {
		return nil
	}
	up := strings.Count((dir + "/")[common:], "/")
	if up == 0 {
		return []string{"." + tail}
	}
	return []string{strings.Repeat("../", up-1) + ".." + tail}
}

// cleanDirectory returns the directory that a relative path is put behind.
func cleanDirectory(base URI) string {
	const probe = "x"
	ref, _ := parse(base.dialect, probe)
	u, err := base.Resolve(ref)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(u.Path(), probe)
}

// commonDirectory returns the length of what a directory and a path have in
// common, up to a slash.
func commonDirectory(dir, path string) int {
	n := 0
	for i := 0; i < len(dir) && i < len(path) && dir[i] == path[i]; i++ {
		if dir[i] == '/' {
			n = i + 1
		}
	}
	return n
}
