package tlog

import (
	"errors"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrProof means that a proof of inclusion or consistency is invalid.
var ErrProof = errors.New("the proof does not match the checkpoint")

// CheckInclusion returns [ErrProof] unless the hashes prove that the entry is at position index of
// the log with the checkpoint c.
func CheckInclusion(hashes []Hash, c Checkpoint, index uint64, entry []byte) error {
	if index >= c.Size || len(hashes) > MaxProofHashes {
		return ErrProof
	}
	if tlog.CheckRecord(theirs(hashes), int64(c.Size), c.Root, int64(index), tlog.RecordHash(entry)) != nil {
		return ErrProof
	}
	return nil
}

// CheckConsistency returns [ErrProof] unless the hashes prove that the log with the checkpoint
// newer begins with the entries of the log with the checkpoint older (RFC 6962, section 2.1.2). Two
// checkpoints of the same size are consistent if they have the same root. The origins must be
// equal.
func CheckConsistency(hashes []Hash, older, newer Checkpoint) error {
	switch {
	case older.Origin != newer.Origin || older.Size > newer.Size || len(hashes) > MaxProofHashes:
		return ErrProof
	case older.Size == 0 || older.Size == newer.Size:
		if len(hashes) > 0 || older.Size == newer.Size && older.Root != newer.Root {
			return ErrProof
		}
		return nil
	}
	if tlog.CheckTree(theirs(hashes), int64(newer.Size), newer.Root, int64(older.Size), older.Root) != nil {
		return ErrProof
	}
	return nil
}

// EntryHash returns the hash of an entry: SHA-256 of a zero byte followed by the entry.
func EntryHash(entry []byte) Hash { return tlog.RecordHash(entry) }

func theirs(hashes []Hash) []tlog.Hash {
	t := make([]tlog.Hash, len(hashes))
	for i, h := range hashes {
		t[i] = h
	}
	return t
}

func ours[P ~[]tlog.Hash](p P) []Hash {
	hashes := make([]Hash, len(p))
	for i, h := range p {
		hashes[i] = h
	}
	return hashes
}
