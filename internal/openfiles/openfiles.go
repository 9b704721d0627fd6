// Package openfiles reports how many files and connections this process may open.
package openfiles

import "math"

// Unlimited means that [Limit] knows no limit.
const Unlimited = math.MaxUint64
