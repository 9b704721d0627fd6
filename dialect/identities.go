package dialect

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/netip"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/gateway"
	"github.com/nomen-project/nomen/internal/retryafter"
	"github.com/nomen-project/nomen/registrar"
)

// Accounts looks up the actors of tokens and users. Package server/admin implements it with the
// rules and limits of the admin API.
type Accounts interface {
	// Bearer returns the actor of a token. The parameter token is the token with its secret. If the
	// token is not valid, the error wraps [adminapi.ErrUnauthorized].
	Bearer(ctx context.Context, token string) (registrar.Actor, error)

	// Account returns the actor of the token or the user with the given ID. The other ID must be
	// "". If the token or the user does not exist or is no longer valid, the error wraps
	// [adminapi.ErrUnauthorized].
	Account(ctx context.Context, token, user string) (registrar.Actor, error)
}

// An Identity is a user name in a dialect. It has the rights of a token or of a nomen user.
type Identity struct {
	ID          string // user name in the dialect
	Token, User string // ID of the token or of the user whose rights the identity has; the other ID is ""
	Secret      []byte // password; nil if the secret of the token is the password
	PublicKey   any    // a public key as in package crypto, or nil
}

// Identities authenticates the users of a dialect. It is safe for concurrent use.
type Identities struct {
	accounts Accounts
	all      map[string]*Identity
	now      func() time.Time
	failures *gateway.Rates
}

// Limits of failed attempts to authenticate. They apply to each client, which is an IPv4 address or
// an IPv6 /64.
const (
	failureBurst   = 10               // failures in a row
	failureRefill  = 10 * time.Second // time after which another failure is permitted
	failureClients = 10_000           // clients with their own limit; all other clients share a limit
)

// NewIdentities returns Identities for the identities. The parameter now is the clock.
func NewIdentities(accounts Accounts, identities []Identity, now func() time.Time) *Identities {
	k := &Identities{
		accounts: accounts, all: make(map[string]*Identity, len(identities)), now: now,
		failures: gateway.NewRates(1/failureRefill.Seconds(), failureBurst, failureClients),
	}
	for i := range identities {
		k.all[identities[i].ID] = &identities[i]
	}
	return k
}

// Identity returns the identity with this ID, or nil.
func (k *Identities) Identity(id string) *Identity { return k.all[id] }

// Keyed reports whether there is an identity with a secret or a public key, which can answer a
// challenge.
func (k *Identities) Keyed() bool {
	for _, i := range k.all {
		if i.Secret != nil || i.PublicKey != nil {
			return true
		}
	}
	return false
}

// Actor returns the actor of an identity whose credentials the caller has verified.
func (k *Identities) Actor(ctx context.Context, i *Identity) (registrar.Actor, error) {
	return k.accounts.Account(ctx, i.Token, i.User)
}

// An AttemptsError reports that a client has failed to authenticate too often.
type AttemptsError struct {
	After time.Duration // when the next attempt is possible
}

func (e *AttemptsError) Error() string {
	return "too many wrong passwords from this address; try again in " + retryafter.Format(e.After) + "s"
}

// RetryAfter returns the value of the header field Retry-After.
func (e *AttemptsError) RetryAfter() string { return retryafter.Format(e.After) }

// Attempt authenticates a client at an address by calling check. An error that wraps
// [adminapi.ErrUnauthorized] counts as a failed attempt. After too many failed attempts, Attempt
// does not call check, and returns an [*AttemptsError] even if the credentials are correct.
func (k *Identities) Attempt(from netip.Addr, check func() (registrar.Actor, error)) (registrar.Actor, error) {
	var limit *gateway.LimitError
	if errors.As(k.failures.Check(from, k.now()), &limit) {
		return registrar.Actor{}, &AttemptsError{limit.After}
	}
	a, err := check()
	if errors.Is(err, adminapi.ErrUnauthorized) {
		k.failures.Charge(from, k.now())
	}
	return a, err
}

// Password authenticates a client by user name and password. The address of the client is used to
// limit failed attempts (see [Identities.Attempt]). If the identity with this ID has a secret, the
// password must be this secret. Otherwise, the password must be a token with its secret. If the
// identity exists, this must be the token of the identity. If the password is wrong, the error
// wraps [adminapi.ErrUnauthorized]. Secrets are compared in constant time.
func (k *Identities) Password(ctx context.Context, from netip.Addr, id, password string) (registrar.Actor, error) {
	return k.Attempt(from, func() (registrar.Actor, error) { return k.password(ctx, id, password) })
}

func (k *Identities) password(ctx context.Context, id, password string) (registrar.Actor, error) {
	i := k.all[id]
	if i == nil || i.Secret == nil {
		return k.bearer(ctx, i, password)
	}
	given, want := sha256.Sum256([]byte(password)), sha256.Sum256(i.Secret)
	if subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
		return registrar.Actor{}, adminapi.ErrUnknownToken
	}
	return k.Actor(ctx, i)
}

// Key authenticates a client by a key without a user name. The address of the client is used to
// limit failed attempts (see [Identities.Attempt]). The key must be the secret of an identity, or a
// token with its secret. Otherwise, the error wraps [adminapi.ErrUnauthorized]. Key always compares
// the key with all secrets, so that its duration does not depend on the result. No two identities
// may have the same secret.
func (k *Identities) Key(ctx context.Context, from netip.Addr, key string) (registrar.Actor, error) {
	return k.Attempt(from, func() (registrar.Actor, error) {
		var found *Identity
		given := sha256.Sum256([]byte(key))
		for _, i := range k.all {
			want := sha256.Sum256(i.Secret)
			if subtle.ConstantTimeCompare(given[:], want[:]) == 1 && i.Secret != nil {
				found = i
			}
		}
		if found != nil {
			return k.Actor(ctx, found)
		}
		return k.accounts.Bearer(ctx, key)
	})
}

// bearer returns the actor of the token that a client has sent as its password. If there is no
// identity with the user name, i is nil. For an identity with a token, the password may also be
// only the secret of the token.
func (k *Identities) bearer(ctx context.Context, i *Identity, password string) (registrar.Actor, error) {
	switch {
	case i == nil:
		return k.accounts.Bearer(ctx, password)
	case i.Token == "":
		return registrar.Actor{}, adminapi.ErrUnknownToken
	}
	if begin := i.Token + "."; len(password) <= len(begin) || password[:len(begin)] != begin {
		password = begin + password
	}
	return k.accounts.Bearer(ctx, password)
}
