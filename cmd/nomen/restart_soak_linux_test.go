//go:build soak

package main

import "testing"

func TestSoakRestarts(t *testing.T) { testRestarts(t, 20, 1000) }
