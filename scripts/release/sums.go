package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	sumsFile = "SHA256SUMS"
	// signers has the public keys that may sign releases, in the format of ssh-keygen -Y verify.
	signers = "contrib/allowed_signers"
	// signer is the name of the owner of the keys in signers.
	signer = "nomen-release"
)

func (r *release) sums() error {
	var b strings.Builder
	slices.Sort(r.files)
	for _, name := range r.files {
		data, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), name)
	}
	return r.write(sumsFile, []byte(b.String()))
}

// sign signs the file with the hashes, with an SSH key. The key "none" means no signature. Without
// a key, a tagged version leads to errUnsigned.
func (r *release) sign(key string) error {
	file := filepath.Join(r.dir, sumsFile)
	if key == "" || key == "none" {
		fmt.Fprintf(os.Stderr, "release: %s: not signed; make release SIGN_KEY=FILE signs with an SSH key\n", file)
		if r.version.tagged && key == "" {
			return errUnsigned
		}
		return nil
	}
	if err := r.command("ssh-keygen", "-q", "-Y", "sign", "-n", "file", "-f", key, file).Run(); err != nil {
		return fmt.Errorf("ssh-keygen: %w", err)
	}
	return r.verify(file)
}

// verify checks the signature with the command that users run.
func (r *release) verify(file string) error {
	if _, err := os.Stat(filepath.Join(r.root, signers)); err != nil {
		fmt.Fprintf(os.Stderr, "release: %s: list the public key of releases in it, as CONTRIBUTING.md says\n", signers)
		return nil
	}
	sums, err := os.Open(file)
	if err != nil {
		return err
	}
	defer sums.Close()
	cmd := r.command("ssh-keygen", "-Y", "verify", "-n", "file", "-f", signers, "-I", signer, "-s", file+".sig")
	cmd.Stdin = sums
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s does not verify with %s: %w", file, signers, err)
	}
	return nil
}
