package bulk

// The limits of what is read.
const (
	MaxLine   = 4 << 20 // bytes of a line
	BatchSize = 5000    // records that go in together
)
