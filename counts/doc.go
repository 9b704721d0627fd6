// Package counts counts resolutions by name, naming authority, service, day and class of client. It
// does not store data about clients.
//
// # What is counted
//
// A resolution is a request for a name that this server answered with a redirect, a description, a
// list or the resource itself. Requests for retired names and failed lookups are counted apart (see
// [Gone] and [Failed]). Resolutions differ from the Requests and Investigations of the COUNTER Code
// of Practice, because a resolver does not deliver the item. Two rules of the Code of Practice
// apply: the class [Bot] has the clients in its list of robots, and two resolutions of a name by
// the same client within 30 seconds count once (double clicks).
//
// # What is kept, and for how long
//
// To recognise double clicks, a [Counter] remembers each click for 30 seconds as a hash of the
// address, the User-Agent field, the name and a secret. The hashes and the secret are only in
// memory, and are deleted after an hour at most. The stored data consist of names, days, services,
// classes and counts.
//
// # Exactness
//
// Counts are exact, except in the cases that [Counter] lists. They are in memory for at most a
// minute before they are added to a [Store], so a crash loses at most the counts of a minute. Each
// batch of counts has a number. If a batch is sent again, the store recognises the number and does
// not add the counts a second time.
package counts
