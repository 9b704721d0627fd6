package tlog

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxWitnessRequest is the maximum length of a [WitnessRequest], in bytes.
const MaxWitnessRequest = MaxCheckpoint + (MaxProofHashes+1)*(encodedHash+1)

// A WitnessRequest is the body of the request with which a log asks a witness for a cosignature
// (tlog-witness, add-checkpoint).
type WitnessRequest struct {
	Old        uint64 // size of the last checkpoint that the witness cosigned; 0 for none
	Hashes     []Hash // proof that the log of the checkpoint begins with the Old entries
	Checkpoint []byte // the checkpoint, signed by the log
}

// Append appends the text of the request to b.
func (r *WitnessRequest) Append(b []byte) []byte {
	b = strconv.AppendUint(append(b, "old "...), r.Old, 10)
	b = AppendHashes(append(b, '\n'), r.Hashes)
	return append(append(b, '\n'), r.Checkpoint...)
}

// ParseWitnessRequest parses a request without verifying it.
func ParseWitnessRequest(data []byte) (*WitnessRequest, error) {
	r := &lineReader{format: "request", text: string(data[:min(len(data), MaxWitnessRequest)])}
	if len(data) > MaxWitnessRequest {
		return nil, r.fault("the request is too long")
	}
	line, err := r.next()
	if err != nil {
		return nil, err
	}
	size, ok := strings.CutPrefix(line, "old ")
	if !ok {
		return nil, r.fault("the first line must be old and a size (tlog-witness, add-checkpoint)")
	}
	q := new(WitnessRequest)
	var rule string
	if q.Old, rule = parseSize(size); rule != "" {
		return nil, r.fault("old: " + rule + " (tlog-witness, add-checkpoint)")
	}
	if q.Hashes, err = r.hashes(); err != nil {
		return nil, err
	}
	q.Checkpoint = []byte(r.rest())
	if _, err := Peek(q.Checkpoint); err != nil {
		return nil, fmt.Errorf("invalid request: %w", err)
	}
	return q, nil
}

// FormatSize returns the body of a response with the status 409. It is the size of the last
// checkpoint that the witness has cosigned.
func FormatSize(size uint64) string { return strconv.FormatUint(size, 10) + "\n" }

// ParseSize parses the result of [FormatSize].
func ParseSize(body []byte) (uint64, error) {
	const longest = 20 // digits of the largest size, and the line feed
	r := &lineReader{format: "size", text: string(body[:min(len(body), longest+1)])}
	line, err := r.next()
	if err != nil {
		return 0, err
	}
	n, rule := parseSize(line)
	if rule == "" && r.rest() != "" {
		rule = "the size must be one line"
	}
	if rule != "" {
		return 0, r.fault(rule + " (tlog-witness, add-checkpoint)")
	}
	return n, nil
}
