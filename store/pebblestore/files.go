package pebblestore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	there, rest := path, ""
	for {
		if real, err := filepath.EvalSymlinks(there); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(there)
		if parent == there {
			return path
		}
		there, rest = parent, filepath.Join(filepath.Base(there), rest)
	}
}

var engineFiles = []string{"*.sst", "*.blob", "*.log", "*.dbtmp", "MANIFEST-*", "OPTIONS-*", "marker.*", "temporary.*", lockFile, "CURRENT", markFile, markFile + ".tmp", manifestFile, manifestFile + ".tmp"}

// lockFile is an empty file that is locked while a process uses the directory. Backups do not
// contain it.
const lockFile = "LOCK"

func isEngineFile(name string) bool {
	return slices.ContainsFunc(engineFiles, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
}

func isTable(file string) bool { return strings.HasSuffix(file, ".sst") }

func tableOptions(files vfs.FS) sstable.ReaderOptions {
	o := engineOptions(Options{FS: files, CacheSize: minMemTableSize})
	o.EnsureDefaults()
	return o.MakeReaderOptions()
}

// checkTable verifies the checksum of every block of a table. If a checksum is
// wrong, [pebble.IsCorruptionError] reports true for the error.
func checkTable(ctx context.Context, files vfs.FS, path string, o sstable.ReaderOptions) error {
	f, err := files.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(ctx, readable, o)
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	return errors.Join(r.ValidateBlockChecksums(), r.Close())
}

// compareFiles reports whether the files a and b have the same content. If they have, f describes
// the file a. The file b need not exist.
func compareFiles(files vfs.FS, a, b string) (f BackupFile, same bool, err error) {
	there, err := isThere(files, b)
	if err != nil || !there {
		return f, false, err
	}
	x, err := files.Open(a, vfs.SequentialReadsOption)
	if err != nil {
		return f, false, err
	}
	defer x.Close()
	y, err := files.Open(b, vfs.SequentialReadsOption)
	if err != nil {
		return f, false, err
	}
	defer y.Close()
	sum := sha256.New()
	f.Size, same, err = sameBytes(x, y, sum)
	f.SHA256 = [32]byte(sum.Sum(nil))
	return f, same, err
}

// sameBytes compares the files x and y, and writes their common beginning to w. If y cannot be
// read, the files are treated as different. The result size is the size of x.
func sameBytes(x, y vfs.File, w io.Writer) (size int64, same bool, err error) {
	xs, err := x.Stat()
	ys, err2 := y.Stat()
	if err := errors.Join(err, err2); err != nil || xs.Size() != ys.Size() {
		return 0, false, err
	}
	var a, b [64 << 10]byte
	for {
		n, err := io.ReadFull(x, a[:])
		m, err2 := io.ReadFull(y, b[:])
		if !bytes.Equal(a[:n], b[:m]) {
			return 0, false, nil
		}
		_, _ = w.Write(a[:n]) // writing to a hash never fails
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return xs.Size(), err2 == err, nil
		}
		if err != nil || err2 != nil {
			return 0, false, err
		}
	}
}

// copyFile copies a file and syncs the copy, which may be on another disk. It returns the size and
// the hash of the content.
func copyFile(files vfs.FS, from, to string) (f BackupFile, err error) {
	in, err := files.Open(from, vfs.SequentialReadsOption)
	if err != nil {
		return f, err
	}
	defer in.Close()
	out, err := files.Create(to, vfs.WriteCategoryUnspecified)
	if err != nil {
		return f, err
	}
	sum := sha256.New()
	f.Size, err = io.Copy(io.MultiWriter(sum, out), in)
	f.SHA256 = [32]byte(sum.Sum(nil))
	return f, errors.Join(err, out.Sync(), out.Close())
}

func syncDir(disk vfs.FS, dir string) error {
	d, err := disk.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
