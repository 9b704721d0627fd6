// Package openfiles knows how many files and connections this process may open.
package openfiles

import "math"

// Unlimited is the limit of a process without one, or with one that is not known.
const Unlimited = math.MaxUint64
