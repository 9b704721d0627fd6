//go:build soak

package main

import "testing"

func TestSoakRestarts(t *testing.T) { testRestarts(t, 20, 1000) }

func TestSoakSecureRestarts(t *testing.T) { testSecureRestarts(t, 20, 1000) }
