package store

// Passes reports the progress of a verification in changes, although it reads each of them
// in several passes, and other things too.
type Passes struct {
	report  func(done, total uint64) // may be nil
	changes uint64
	passes  int    // number of passes
	begun   int    // passes that have begun
	size    uint64 // units of the current pass
	done    uint64 // of these
	next    uint64 // report when so many are done
}

// passStep is how many units of a pass are done between two reports.
const passStep = 10_000

// NewPasses returns the progress of reading a number of changes in a number of passes, which is
// reported to report unless it is nil.
func NewPasses(changes uint64, passes int, report func(done, total uint64)) *Passes {
	return &Passes{report: report, changes: changes, passes: passes}
}

// Begin begins the next pass, which has about so many units.
func (p *Passes) Begin(units uint64) {
	p.begun++
	p.size, p.done, p.next = max(units, 1), 0, passStep
}

// Add adds units of the current pass.
func (p *Passes) Add(units uint64) {
	if p.done += units; p.report == nil || p.done < p.next {
		return
	}
	p.next = p.done + passStep
	part := float64(min(p.done, p.size)) / float64(p.size)
	share := (float64(p.begun-1) + part) / float64(p.passes)
	p.report(uint64(share*float64(p.changes)), p.changes)
}

// End reports that everything is done.
func (p *Passes) End() {
	if p.report != nil {
		p.report(p.changes, p.changes)
	}
}
