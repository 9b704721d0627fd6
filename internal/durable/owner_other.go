//go:build !unix

package durable

import "io/fs"

func owner(fs.FileInfo) (user, group int, ok bool) { return 0, 0, false }

func isOurs(fs.FileInfo) bool { return false }
