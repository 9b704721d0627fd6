package tlog

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// Limits of proofs.
const (
	MaxProofHashes = 63      // number of hashes in a proof of inclusion or consistency
	MaxExtra       = 2 << 20 // length of the extra data of a proof, in bytes
	MaxProof       = MaxExtra/3*4 + MaxCheckpoint + 64<<10
)

const proofHeader = "c2sp.org/tlog-proof@v1"

// A Proof proves that a log has an entry (tlog-proof). The proof has no field for the entry, but the
// application may put the entry in Extra. Files with proofs have the extension .tlog-proof.
type Proof struct {
	Extra      []byte // unauthenticated data of the application; nil for none
	Index      uint64 // position of the entry in the log, from 0
	Hashes     []Hash // proof of inclusion (RFC 6962, section 2.1.1)
	Checkpoint []byte // the signed checkpoint, as it was published
}

// Append appends the text of the proof to b.
func (p *Proof) Append(b []byte) []byte {
	b = append(b, proofHeader+"\n"...)
	if p.Extra != nil {
		b = base64.StdEncoding.AppendEncode(append(b, "extra "...), p.Extra)
		b = append(b, '\n')
	}
	b = strconv.AppendUint(append(b, "index "...), p.Index, 10)
	b = append(b, '\n')
	b = AppendHashes(b, p.Hashes)
	return append(append(b, '\n'), p.Checkpoint...)
}

// ParseProof parses a proof without verifying it. It accepts only the form that [Proof.Append]
// appends.
func ParseProof(data []byte) (*Proof, error) {
	r := &lineReader{format: "proof", text: string(data[:min(len(data), MaxProof)])}
	if len(data) > MaxProof {
		return nil, r.fault("the proof is too long")
	}
	line, err := r.next()
	if err != nil {
		return nil, err
	}
	if line != proofHeader {
		return nil, r.fault("the first line must be " + proofHeader + " (tlog-proof, Format)")
	}
	p := new(Proof)
	if line, err = r.next(); err != nil {
		return nil, err
	}
	if extra, ok := strings.CutPrefix(line, "extra "); ok {
		if p.Extra, err = base64.StdEncoding.Strict().DecodeString(extra); err != nil || len(p.Extra) > MaxExtra {
			return nil, r.fault("the extra data must be base64 (tlog-proof, Format)")
		}
		if line, err = r.next(); err != nil {
			return nil, err
		}
	}
	index, ok := strings.CutPrefix(line, "index ")
	if !ok {
		return nil, r.fault("the line with the index is missing (tlog-proof, Format)")
	}
	var rule string
	if p.Index, rule = parseSize(index); rule != "" {
		return nil, r.fault("index: " + rule + " (tlog-proof, Format)")
	}
	if p.Hashes, err = r.hashes(); err != nil {
		return nil, err
	}
	p.Checkpoint = []byte(r.rest())
	if _, err := Peek(p.Checkpoint); err != nil {
		return nil, fmt.Errorf("invalid proof: %w", err)
	}
	return p, nil
}

// AppendHashes appends a proof of inclusion or consistency, with one hash per line.
func AppendHashes(b []byte, hashes []Hash) []byte {
	for _, h := range hashes {
		b = append(appendHash(b, h), '\n')
	}
	return b
}

// hashes reads at most [MaxProofHashes] lines with hashes, and the empty line after them.
func (r *lineReader) hashes() (hashes []Hash, err error) {
	for {
		line, err := r.next()
		switch {
		case err != nil:
			return nil, err
		case line == "":
			return hashes, nil
		case len(hashes) == MaxProofHashes:
			return nil, r.fault(fmt.Sprintf("a proof has at most %d hashes", MaxProofHashes))
		}
		h, rule := parseHash(line)
		if rule != "" {
			return nil, r.fault(rule)
		}
		hashes = append(hashes, h)
	}
}
