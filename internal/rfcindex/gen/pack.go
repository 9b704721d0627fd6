package main

import "github.com/klauspost/compress/zstd"

// pack compresses the records as much as possible, because the file is in every binary.
func pack(text []byte) []byte {
	const window = 8 << 20 // bytes; more than the text has
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic("gen: " + err.Error()) // the options are constant and valid
	}
	return z.EncodeAll(text, nil)
}
