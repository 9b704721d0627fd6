package main

import "github.com/klauspost/compress/zstd"

// pack compresses the records as much as possible: the file is generated once and is part of
// every binary.
func pack(text []byte) []byte {
	const window = 8 << 20 // in bytes; more than the length of the text
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic("gen: " + err.Error()) // fails only if the options are invalid, and they are constants
	}
	return z.EncodeAll(text, nil)
}
