// GoogleTest: a test is a function that runs its fixture's parts in order; what is checked of results is of no concern.
#pragma once
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>
namespace testing {
struct Message {
    Message() = default;
    template <class... _A> explicit Message(const _A&...) {}
    template <class _T> const Message& operator<<(const _T&) const { return *this; }
    const Message& operator<<(std::ostream& (*)(std::ostream&)) const { return *this; }
    std::string GetString() const;
};
struct AssertionResult {
    explicit AssertionResult(bool);
    template <class _T> AssertionResult& operator<<(const _T&) { return *this; }
    operator bool() const;
    const char* message() const;
    const char* failure_message() const;
};
AssertionResult AssertionSuccess();
AssertionResult AssertionFailure();
template <class... _A> AssertionResult AssertionFailure(const _A&...);
template <class... _A> void _checked(const _A&...);
struct TestInfo {
    const char* name() const;
    const char* test_case_name() const;
    const char* test_suite_name() const;
};
struct UnitTest {
    static UnitTest* GetInstance();
    const TestInfo* current_test_info() const;
    int random_seed() const;
};
struct Environment {
    virtual void SetUp() {}
    virtual void TearDown() {}
};
Environment* AddGlobalTestEnvironment(Environment*);
struct Test {
    static void SetUpTestSuite() {}
    static void TearDownTestSuite() {}
    static void SetUpTestCase() {}
    static void TearDownTestCase() {}
    static bool HasFatalFailure();
    static bool HasNonfatalFailure();
    static bool HasFailure();
    static bool IsSkipped();
    template <class _T> static void RecordProperty(const std::string&, const _T&);
    virtual void SetUp() {}
    virtual void TearDown() {}
};
template <class _T> struct WithParamInterface {
    typedef _T ParamType;
    static const _T& GetParam();
};
template <class _T> struct TestWithParam : Test, WithParamInterface<_T> {};
template <class _T> struct TestParamInfo {
    _T param;
    size_t index;
};
struct PrintToStringParamName {};
template <class _T> std::string PrintToString(const _T&);
template <class... _T> struct Types {};
template <class _T> struct _first_of { typedef _T type; };
template <class _T, class... _R> struct _first_of<Types<_T, _R...>> { typedef _T type; };
template <template <class...> class _L, class _T, class... _R> struct _first_of<_L<_T, _R...>> { typedef _T type; };
struct _values { template <class _T> operator _T() const; };
template <class... _A> _values Values(const _A&...);
template <class... _A> _values ValuesIn(const _A&...);
template <class... _A> _values Combine(const _A&...);
template <class... _A> _values Range(const _A&...);
_values Bool();
void InitGoogleTest(int*, char**);
void InitGoogleTest();
template <class _T, class _U> void StaticAssertTypeEq();
}  // namespace testing
int RUN_ALL_TESTS();
#define GTEST_FLAG_SET(...) ((void)0)
#define GTEST_FLAG_GET(...) (::std::string())
#define GTEST_FLAG(NAME) FLAGS_gtest_##NAME
#define GTEST_TEST_CLASS_NAME_(SUITE, NAME) SUITE##_##NAME##_Test
#define _CUDALINT_RUN(CLASS)                                                                                \
    static void _cudalint_run()                                                                                      \
    {                                                                                                       \
        CLASS test;                                                                                         \
        test.SetUp();                                                                                       \
        test.TestBody();                                                                                    \
        test.TearDown();                                                                                    \
    }                                                                                                       \
    void TestBody();
#define _CUDALINT_TEST(SUITE, NAME, BASE)                                                                   \
    struct SUITE##_##NAME##_Test : BASE { _CUDALINT_RUN(SUITE##_##NAME##_Test) };                           \
    void SUITE##_##NAME##_Test::TestBody()
#define TEST(SUITE, NAME) _CUDALINT_TEST(SUITE, NAME, ::testing::Test)
#define TEST_F(SUITE, NAME) _CUDALINT_TEST(SUITE, NAME, SUITE)
#define TEST_P(SUITE, NAME) _CUDALINT_TEST(SUITE, NAME, SUITE)
#define GTEST_TEST(SUITE, NAME) TEST(SUITE, NAME)
#define FRIEND_TEST(SUITE, NAME) friend struct SUITE##_##NAME##_Test
#define TYPED_TEST_SUITE(SUITE, TYPES, ...) typedef ::testing::_first_of<TYPES>::type SUITE##_cudalint_type
#define TYPED_TEST(SUITE, NAME)                                                                             \
    template <class _T> struct SUITE##_##NAME##_Test : SUITE<_T> {                                          \
        typedef SUITE<_T> TestFixture;                                                                      \
        typedef _T TypeParam;                                                                               \
        _CUDALINT_RUN(SUITE##_##NAME##_Test)                                                                \
    };                                                                                                      \
    [[maybe_unused]] static void SUITE##_##NAME##_cudalint_run() { SUITE##_##NAME##_Test<SUITE##_cudalint_type>::_cudalint_run(); } \
    template <class _T> void SUITE##_##NAME##_Test<_T>::TestBody()
#define TYPED_TEST_SUITE_P(SUITE) static_assert(true, "")
#define TYPED_TEST_P(SUITE, NAME)                                                                           \
    template <class _T> struct SUITE##_##NAME##_Test : SUITE<_T> {                                          \
        typedef SUITE<_T> TestFixture;                                                                      \
        typedef _T TypeParam;                                                                               \
        _CUDALINT_RUN(SUITE##_##NAME##_Test)                                                                \
    };                                                                                                      \
    template <class _T> void SUITE##_##NAME##_Test<_T>::TestBody()
#define REGISTER_TYPED_TEST_SUITE_P(...) static_assert(true, "")
#define INSTANTIATE_TYPED_TEST_SUITE_P(...) static_assert(true, "")
#define INSTANTIATE_TEST_SUITE_P(...) static_assert(true, "")
#define TYPED_TEST_CASE(...) TYPED_TEST_SUITE(__VA_ARGS__)
#define TYPED_TEST_CASE_P(...) static_assert(true, "")
#define REGISTER_TYPED_TEST_CASE_P(...) static_assert(true, "")
#define INSTANTIATE_TYPED_TEST_CASE_P(...) static_assert(true, "")
#define INSTANTIATE_TEST_CASE_P(...) static_assert(true, "")
#define GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(...) static_assert(true, "")
/// Like the library's, these take a message behind `<<`.
#define _CUDALINT_CHECK(...) ::testing::_checked(__VA_ARGS__), ::testing::Message()
#define _CUDALINT_RUNS(STATEMENT)                                                                           \
    if (true) {                                                                                             \
        STATEMENT;                                                                                          \
    } else                                                                                                  \
        ::testing::Message()
struct _cudalint_returns { void operator=(const ::testing::Message&) const {} };
#define _CUDALINT_RETURNS return _cudalint_returns() = ::testing::Message()
#define GTEST_SKIP(...) _CUDALINT_RETURNS
#define FAIL() _CUDALINT_RETURNS
#define GTEST_FAIL() _CUDALINT_RETURNS
#define SUCCEED() ::testing::Message()
#define GTEST_SUCCEED() ::testing::Message()
#define ADD_FAILURE(...) ::testing::Message()
#define ADD_FAILURE_AT(...) ::testing::Message()
#define SCOPED_TRACE(...) ((void)0)
#define GTEST_LOG_(...) ::std::cerr
#define EXPECT_TRUE(...) _CUDALINT_CHECK(bool(__VA_ARGS__))
#define EXPECT_FALSE(...) _CUDALINT_CHECK(bool(__VA_ARGS__))
#define EXPECT_EQ(...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_NE(...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_LT(...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_LE(...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_GT(...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_GE(...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_NEAR(...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_FLOAT_EQ(...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_DOUBLE_EQ(...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_STREQ(...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_STRNE(...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_THAT(VALUE, ...) _CUDALINT_CHECK(VALUE)
#define EXPECT_PRED1(F, ...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_PRED2(F, ...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_PRED_FORMAT2(F, ...) _CUDALINT_CHECK(__VA_ARGS__)
#define EXPECT_THROW(STATEMENT, ...) _CUDALINT_RUNS(STATEMENT)
#define EXPECT_ANY_THROW(STATEMENT) _CUDALINT_RUNS(STATEMENT)
#define EXPECT_NO_THROW(STATEMENT) _CUDALINT_RUNS(STATEMENT)
#define EXPECT_DEATH(STATEMENT, ...) _CUDALINT_RUNS(STATEMENT)
#define EXPECT_EXIT(STATEMENT, ...) _CUDALINT_RUNS(STATEMENT)
#define EXPECT_NO_FATAL_FAILURE(STATEMENT) _CUDALINT_RUNS(STATEMENT)
#define ASSERT_TRUE(...) EXPECT_TRUE(__VA_ARGS__)
#define ASSERT_FALSE(...) EXPECT_FALSE(__VA_ARGS__)
#define ASSERT_EQ(...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_NE(...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_LT(...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_LE(...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_GT(...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_GE(...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_NEAR(...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_FLOAT_EQ(...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_DOUBLE_EQ(...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_STREQ(...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_STRNE(...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_THAT(VALUE, ...) _CUDALINT_CHECK(VALUE)
#define ASSERT_PRED2(F, ...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_PRED_FORMAT2(F, ...) _CUDALINT_CHECK(__VA_ARGS__)
#define ASSERT_THROW(STATEMENT, ...) _CUDALINT_RUNS(STATEMENT)
#define ASSERT_ANY_THROW(STATEMENT) _CUDALINT_RUNS(STATEMENT)
#define ASSERT_NO_THROW(STATEMENT) _CUDALINT_RUNS(STATEMENT)
#define ASSERT_DEATH(STATEMENT, ...) _CUDALINT_RUNS(STATEMENT)
#define ASSERT_NO_FATAL_FAILURE(STATEMENT) _CUDALINT_RUNS(STATEMENT)
