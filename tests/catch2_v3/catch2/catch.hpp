#pragma once

// Catch2 3 under the header name of Catch2 2, which the tests include. On the include path only where Catch2
// 3 is found.

#include <catch2/catch_all.hpp>
