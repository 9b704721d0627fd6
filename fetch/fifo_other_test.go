//go:build !unix

package fetch

import "errors"

func mkfifo(string) error { return errors.ErrUnsupported }
