// Package openfiles reports how many files and connections this process may open.
package openfiles

import "math"

// Unlimited is the result of [Limit] if the limit is unknown.
const Unlimited = math.MaxUint64
