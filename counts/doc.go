// Package counts counts resolutions: how often names were resolved, by name, naming authority,
// service, day and class of client. It keeps nothing about clients.
//
// # What is counted
//
// A resolution is a request for a name that this server answered with a redirect, a description, a
// list or the resource itself. Requests for retired names and failed lookups are counted apart (see
// [Gone] and [Failed]). These are not the requests or investigations of the COUNTER Code of Practice,
// because a resolver does not deliver the item. Two rules of the Code are applied: the list of robots
// decides about [Bot], and two resolutions of a name by the same client within 30 seconds count once
// (double clicks).
//
// # What is kept, and for how long
//
// To recognise double clicks, a [Counter] needs to know for 30 seconds that a client was there. It
// keeps a number computed from the address, the User-Agent field, the name and a secret. The numbers
// and the secret are only in memory, and are forgotten after an hour at most. What is written has
// only names, days, services, classes and counts.
//
// # Exactness
//
// Counts are exact, except in the cases that [Counter] lists. They are in memory for at most a minute,
// and then added to a [Store]. So a crash loses at most the counts of a minute. A batch of counts has
// a number, by which the store recognises a batch that it already has, so nothing is added twice.
package counts
