package bulk

// Limits of reading.
const (
	maxLine    = 4 << 20   // bytes of a line
	batchSize  = 5000      // records of a batch
	ahead      = 4         // batches read ahead
	batchBytes = 16 << 20  // bytes of the lines of a batch
	maxYield   = 128       // bytes after decompression without a record, for each compressed byte
	freeYield  = 4 << 20   // such bytes in addition to maxYield
	maxWindow  = 128 << 20 // maximum memory for the window of a zstd stream, in bytes
	bufferSize = 256 << 10 // buffer of input and output, in bytes
)
