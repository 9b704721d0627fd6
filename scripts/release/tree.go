package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// An entry is a file or directory of a package, an archive or an image.
type entry struct {
	path  string      // without a leading slash
	mode  fs.FileMode // for a directory, fs.ModeDir is set
	data  []byte
	owner int // ID of the user and of the group
	conf  bool
}

// A tree is a list of files and directories.
type tree []entry

func (t *tree) file(path string, data []byte) {
	*t = append(*t, entry{path: path, mode: 0o644, data: data})
}

func (t *tree) program(path string, data []byte) {
	*t = append(*t, entry{path: path, mode: 0o755, data: data})
}

// complete returns the tree with the directories of its entries, sorted by path.
func (t tree) complete() tree {
	all := slices.Clone(t)
	known := map[string]bool{".": true}
	for _, e := range t {
		known[e.path] = true
	}
	for _, e := range t {
		for dir := path.Dir(e.path); !known[dir]; dir = path.Dir(dir) {
			known[dir] = true
			all = append(all, entry{path: dir, mode: fs.ModeDir | 0o755})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	return all
}

// stage writes the tree into a directory. The modes do not depend on the umask. The owners are
// those of this process, because the tools that make packages set their own.
func (t tree) stage(dir string, at time.Time) error {
	for _, e := range t.complete() {
		to := filepath.Join(dir, e.path)
		var err error
		if e.mode.IsDir() {
			err = os.Mkdir(to, 0o755)
		} else {
			err = os.WriteFile(to, e.data, e.mode.Perm())
		}
		if err == nil {
			err = os.Chmod(to, e.mode.Perm())
		}
		if err != nil {
			return err
		}
	}
	for _, e := range t.complete() {
		if err := os.Chtimes(filepath.Join(dir, e.path), at, at); err != nil {
			return err
		}
	}
	return nil
}

// tar writes the tree as a tar archive. The paths in the archive begin with dir, which can be
// empty.
func (t tree) tar(w io.Writer, dir string, at time.Time) error {
	out := tar.NewWriter(w)
	for _, e := range t.complete() {
		h := &tar.Header{
			Name: path.Join(dir, e.path), Mode: tarMode(e.mode), ModTime: at.Truncate(time.Second),
			Uid: e.owner, Gid: e.owner, Size: int64(len(e.data)), Typeflag: tar.TypeReg,
		}
		if e.mode.IsDir() {
			h.Name, h.Typeflag = h.Name+"/", tar.TypeDir
		}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := out.Write(e.data); err != nil {
			return err
		}
	}
	return out.Close()
}

// tarMode converts a mode to that of tar, which has another bit for sticky.
func tarMode(m fs.FileMode) int64 {
	mode := int64(m.Perm())
	if m&fs.ModeSticky != 0 {
		mode |= 0o1000
	}
	return mode
}

// compress compresses data with gzip. It leaves out the file name and the time, which would make
// the result different each time.
func compress(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = w.Write(data) // no error, because w writes to a bytes.Buffer
	_ = w.Close()
	return b.Bytes()
}

// readContrib returns the files below contrib/.
func readContrib(root string) (t tree, err error) {
	err = fs.WalkDir(os.DirFS(root), "contrib", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		t.file(file, text)
		return err
	})
	return t, err
}
