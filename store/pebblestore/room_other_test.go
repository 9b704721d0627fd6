//go:build !linux

package pebblestore

import (
	"errors"
	"testing"
)

func smallDisk(*testing.T, string, int) error { return errors.ErrUnsupported }
