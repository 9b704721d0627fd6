//go:build soak

package main

import "testing"

// TestSoakReloads is the long version of TestReloadUnderLoad.
func TestSoakReloads(t *testing.T) { reloadUnderLoad(t, 100, 1000) }
