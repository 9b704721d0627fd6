// Package openfiles reports how many files and connections this process may open.
package openfiles

import "math"

// Unlimited is returned by [Limit] if the process has no limit, or if the limit cannot be
// determined.
const Unlimited = math.MaxUint64
