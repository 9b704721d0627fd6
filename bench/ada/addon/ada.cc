// An addon of Node.js that measures the parser of URLs that Node.js has, ada. It prints the
// nanoseconds a URL takes, in the fastest of 60 passes over the lines of the file LIST, for
// ada::can_parse and for ada::parse into an ada::url_aggregator.
//
// Node.js exports the functions, but does not ship their header. All lines of the file must be
// URLs that ada accepts: only then does the result of ada::parse hold an object to destroy.

#include <node_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using std::string_view;

extern "C" void destroy(void*) __asm__("_ZN3ada14url_aggregatorD2Ev");

struct Result {  // at least as large as tl::expected<ada::url_aggregator, ada::errors>
  alignas(16) char object[512];
  Result(const Result&) = delete;
  ~Result() { destroy(object); }
};

extern "C" bool can_parse(string_view, const string_view*) __asm__(
    "_ZN3ada9can_parseESt17basic_string_viewIcSt11char_traitsIcEEPKS3_");
extern "C" Result parse(string_view, const void*) __asm__(
    "_ZN3ada5parseINS_14url_aggregatorEEEN2tl8expectedIT_NS_6errorsEEESt17basic_string_viewIcSt11char_traitsIcEEPKS4_");

template <class F>
static double best(const std::vector<std::string>& urls, F f) {
  using clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::max();
  for (int pass = 0; pass < 60; pass++) {
    auto start = clock::now();
    for (const auto& s : urls) f(s);
    least = std::min(least, std::chrono::duration<double, std::nano>(clock::now() - start).count());
  }
  return least / urls.size();
}

static napi_value Init(napi_env, napi_value exports) {
  std::ifstream file(std::getenv("LIST"));
  std::vector<std::string> urls;
  for (std::string line; std::getline(file, line);)
    if (can_parse(line, nullptr)) urls.push_back(line);
  volatile bool sink = false;
  double check = best(urls, [&](string_view s) { sink = can_parse(s, nullptr); });
  double whole = best(urls, [&](string_view s) { Result r = parse(s, nullptr); });
  std::printf("%f %f\n", check, whole);
  return exports;
}

NAPI_MODULE(ada, Init)
