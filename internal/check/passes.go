package check

// passes reports the progress of a verification. It converts work done in several passes into a
// number of changes.
type passes struct {
	report  func(done, total uint64) // may be nil
	changes uint64
	number  int    // of passes
	begun   int    // passes that have begun
	size    uint64 // units of the current pass
	done    uint64 // of these
	next    uint64 // report when so many are done
}

// passStep is how many units of a pass are done between two reports.
const passStep = 10_000

// newPasses returns the progress of reading a number of changes in a number of passes. It
// calls report with the progress, unless report is nil.
func newPasses(changes uint64, number int, report func(done, total uint64)) *passes {
	return &passes{report: report, changes: changes, number: number}
}

// begin begins the next pass, which has about so many units.
func (p *passes) begin(units uint64) {
	p.begun++
	p.size, p.done, p.next = max(units, 1), 0, passStep
}

// add records that units of the current pass are done.
func (p *passes) add(units uint64) {
	if p.done += units; p.report == nil || p.done < p.next {
		return
	}
	p.next = p.done + passStep
	part := float64(min(p.done, p.size)) / float64(p.size)
	share := (float64(p.begun-1) + part) / float64(p.number)
	p.report(uint64(share*float64(p.changes)), p.changes)
}

// end reports that everything is done.
func (p *passes) end() {
	if p.report != nil {
		p.report(p.changes, p.changes)
	}
}
