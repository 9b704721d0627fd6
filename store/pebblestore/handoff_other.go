//go:build !linux

package pebblestore

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func waiting(f vfs.File) vfs.File { return f }

func removeFile(path string) error { return os.Remove(path) }
