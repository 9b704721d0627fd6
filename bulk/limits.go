package bulk

// The limits of what is read.
const (
	MaxLine    = 4 << 20   // bytes of a line
	BatchSize  = 5000      // records that go in together
	ahead      = 4         // batches that were read and are not in yet
	batchBytes = 16 << 20  // bytes of lines that go in together
	freeYield  = 4 << 20   // bytes without a record that a compressed file may hold, and
	maxYield   = 128       // so many more for each of its bytes
	maxWindow  = 128 << 20 // bytes that a zstd stream may make us keep
	bufferSize = 256 << 10 // of input and output
)
