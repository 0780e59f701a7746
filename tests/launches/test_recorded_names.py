"""Which kernels of the source recorded ones are, by names as compilers and profilers spell them.

Names of nvcc are those of its cubin files (CUDA 13.0); those of clang are what libclang 18 calls the same functions.
"""

from __future__ import annotations

import random
import string
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cudalint.launches.recorded.mangled import Unreadable, spelled_out
from cudalint.launches.recorded.names import base_name, fits, hidden, is_instance, is_same, key_of

_HASH = "2347177c_4_b_cu_941d6bc1"
_FILE = f"34_INTERNAL_{_HASH}"
_NO_NAME = f"36_GLOBAL__N__{_HASH}"

_SAME = [
    # (name of the function, nvcc, clang)
    ("plain", "plain", "plain"),
    ("static_k", "_Z8static_kPf", "_ZL8static_kPf"),
    ("static_t", "_Z8static_tIfEvPT_", "_ZL8static_tIfEvPT_"),
    ("anon_k", f"_ZN{_NO_NAME}6anon_kEPf", "_ZN12_GLOBAL__N_16anon_kEPf"),
    ("anon_t", f"_ZN{_NO_NAME}6anon_tIfEEvPT_", "_ZN12_GLOBAL__N_16anon_tIfEEvPT_"),
    # A function with internal linkage as an argument; nvcc's namespace is a part that later ones are counted after.
    (
        "bin",
        f"_ZN2ns3binIXadL_ZN{_FILE}6op_addEffEEfEEvPKT0_PS2_S4_",
        "_ZN2ns3binIXadL_ZL6op_addffEEfEEvPKT0_PS1_S3_",
    ),
    # nvcc marks nothing inside of namespaces of the source.
    ("bin", "_ZN2ns3binIXadL_ZNS_6op_subEffEEfEEvPKT0_PS1_S3_", "_ZN2ns3binIXadL_ZNS_L6op_subEffEEfEEvPKT0_PS1_S3_"),
    (
        "bin",
        f"_ZN2ns3binIXadL_ZNS_{_NO_NAME}5op_inEffEEfEEvPKT0_PS2_S4_",
        "_ZN2ns3binIXadL_ZNS_12_GLOBAL__N_15op_inEffEEfEEvPKT0_PS2_S4_",
    ),
    # The namespace that nvcc makes is referred back to.
    (
        "two",
        f"_Z3twoIXadL_ZN{_FILE}4op_aEffEEXadL_ZNS0_4op_bEffEEEvPf",
        "_Z3twoIXadL_ZL4op_affEEXadL_ZL4op_bffEEEvPf",
    ),
    # Static templates.
    (
        "one",
        f"_Z3oneIXadL_ZN{_FILE}3cpyIfdEEvPKT_PT0_EEEvPfP2P1S9_",
        "_ZL3oneIXadL_ZL3cpyIfdEvPKT_PT0_EEEvPfP2P1S8_",
    ),
    # Others inside of namespaces do get nvcc's namespace, around those.
    (
        "inside_t",
        f"_Z8inside_tIXadL_ZN{_FILE}2v24in_tI2P1EEvPKT_EEEvPS3_S7_PKS3_",
        "_Z8inside_tIXadL_ZN2v2L4in_tI2P1EEvPKT_EEEvPS2_S6_PKS2_",
    ),
    (
        "structs",
        f"_Z7structsIXadL_ZN{_FILE}2ofEPK2P1P2P2S3_EEEvPS1_S5_S6_",
        "_Z7structsIXadL_ZL2ofPK2P1P2P2S2_EEEvPS0_S4_S5_",
    ),
    ("tabled", f"_Z6tabledIXadL_ZN{_FILE}5tableEEEEvPf", "_Z6tabledIXadL_ZL5tableEEEvPf"),
    # Names that end in a digit stand before a length.
    ("deep", f"_ZN2v2{_NO_NAME}4deepEPf", "_ZN2v212_GLOBAL__N_14deepEPf"),
    ("deeper", f"_ZN2v2{_NO_NAME}5inner6deeperEP2P2S3_", "_ZN2v212_GLOBAL__N_15inner6deeperEP2P2S3_"),
    ("moded", f"_ZN2v2{_NO_NAME}5modedIL4Mode1EEEvPf", "_ZN2v212_GLOBAL__N_15modedIL4Mode1EEEvPf"),
    (
        "last",
        f"_ZN2v24lastENS_{_NO_NAME}5LocalI2P1EEPS3_PS2_PS5_",
        "_ZN2v24lastENS_12_GLOBAL__N_15LocalI2P1EEPS3_PS2_PS5_",
    ),
    # clang has the type of a template's parameter in the name where that depends on another one.
    ("constant", "_Z8constantI4ModeLS0_1EEvPT_", "_Z8constantI4ModeTnT_LS0_1EEvPS1_"),
    ("constant", "_Z8constantIiLin7EEvPT_", "_Z8constantIiTnT_Lin7EEvPS0_"),
    ("apply", "_Z5applyIZ2goPfEUlfE_EvT_S0_", "_Z5applyIZ2goPfEUlfE_EvT_S0_"),
    (
        "guarded",
        "_Z7guardedIdENSt9enable_ifIXgtstT_Li4EEvE4typeEPS1_",
        "_Z7guardedIdENSt9enable_ifIXgtstT_Li4EEvE4typeEPS1_",
    ),
    ("wrapped", "_Z7wrappedI3BoxfEvT_IT0_EPS3_PS2_", "_Z7wrappedI3BoxfEvT_IT0_EPS3_PS2_"),
    ("sized", "_Z5sizedIfEvRA4_T_PFfS0_S0_EM2P1iPA8_S0_", "_Z5sizedIfEvRA4_T_PFfS0_S0_EM2P1iPA8_S0_"),
    ("modes", "_Z5modesIL4Mode0EJLi1ELin2ELi3EEEvPf", "_Z5modesIL4Mode0EJLi1ELin2ELi3EEEvPf"),
    ("dtype", "_Z5dtypeIfEvPT_DTplcvS0__ELi1EE", "_Z5dtypeIfEvPT_DTplcvS0__ELi1EE"),
    ("overloaded", "_Z10overloadedP2P1P2P2S0_", "_Z10overloadedP2P1P2P2S0_"),
    ("overloaded", "_Z10overloadedP2P1P2P2S2_", "_Z10overloadedP2P1P2P2S2_"),
]
_CLANG = [clang for _, _, clang in _SAME]


@pytest.mark.parametrize(("name", "nvcc", "clang"), _SAME)
def test_compilers_mean_the_same_kernel(name: str, nvcc: str, clang: str) -> None:
    assert [other for other in _CLANG if is_same(other, nvcc)] == [clang]
    assert [other for other in _CLANG if is_same(other, hidden(nvcc))] == [clang]
    assert hidden(nvcc) == hidden(clang)
    assert base_name(nvcc) == base_name(clang) == name
    assert fits(name, clang, nvcc)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("_Z1kPf", "_Z1kPd"),
        ("_Z1kPf", "k"),
        ("_Z1kPf", "_ZN1n1kEPf"),
        ("_Z10overloadedP2P1P2P2S0_", "_Z10overloadedP2P1P2P2S2_"),
        ("_Z1kILi1EEvv", "_Z1kILi11EEvv"),
        ("_Z1kILi1EEvv", "_Z1kILj1EEvv"),
        (f"_ZN2v2{_NO_NAME}4deepEPf", f"_ZN2v2{_NO_NAME}5otherEPf"),
        (f"_ZN2v2{_NO_NAME}1kEPf", "_ZN2v21kEPf"),
        (f"_Z3twoIXadL_ZN{_FILE}1aEffEEXadL_ZNS0_1bEffEEEvPf", f"_Z3twoIXadL_ZN{_FILE}1bEffEEXadL_ZNS0_1aEffEEEvPf"),
    ],
)
def test_other_kernels_are_others(one: str, other: str) -> None:
    assert not is_same(one, other)
    assert hidden(one) != hidden(other)


def test_nobody_knows_a_function_without_a_name() -> None:
    assert not is_same("", "")
    assert not fits("", "", "")


def test_hidden_names_say_nothing() -> None:
    name = hidden("_ZN6secret6kernelEPf")
    assert name.startswith("h:")
    assert set(name[2:]) <= set(string.hexdigits)
    assert hidden(name) == key_of(name) == name


_SPELLINGS = [
    ("k", "k"),
    ("k(float const*)", "k"),
    ("void ns::(anonymous namespace)::k<float, &ns::op>(float const*)", "k"),
    ("void <unnamed>::softmax<float, (int)8, (bool)0>(T2 *, const T1 *, int)", "softmax"),
    ("void ns::<unnamed>::k<float>(T1 *)", "k"),
    ("void k<&(op_add(float, float)), float>(float const*)", "k"),
    ("void k<&op_add, (Mode)1, 3u, true>()", "k"),
    ("void k<std::array<char*, 3ul> >(int, std::array<char*, 3ul>)", "k"),
    ("std::enable_if<((sizeof (double))>(4)), void>::type guarded<double>(double*)", "guarded"),
    ("std::enable_if<(sizeof(double) > 4) && (4 < 5), void>::type guarded<double>(double*)", "guarded"),
    ("void k<(3>2), (5>>1)>(int)", "k"),
    ("void apply<go(float*)::{lambda(float)#1}>(go(float*)::{lambda(float)#1}, float*)", "apply"),
    ("void apply<go(float*)::'lambda'(float)>(go(float*)::'lambda'(float), float*)", "apply"),
    (
        "void ns::outer<(int)2, void in<go(It &)::[lambda() (instance 3)]::operator ()() const::[lambda(T)]>()>(T3)",
        "outer",
    ),
    ("void apply<__nv_dl_wrapper_t<__nv_dl_tag<void (*)(float*), &go, 1u> > >(int)", "apply"),
    ("void apply<float (*)(float)>(float (*)(float), float*)", "apply"),
    ("void k<&ns::operator<<, &ns::operator>>, &ns::A::operator->, &ns::operator< <int> >(int)", "k"),
    ("void k<decltype(a->b)>(int)", "k"),
    ("k[abi:cxx11](int)", "k"),
    ("k(float*) [clone .part.0]", "k"),
    ("ns::S::operator()(int) const", "operator()"),
    ("ns::S::operator ()(int) const", "operator()"),
    ("bool ns::operator< <int>(ns::A<int>, int)", "operator<"),
    ("ns::S::operator float() const", "operator float"),
    ("my_operator<3>(int)", "my_operator"),
    ("unsigned long k(int)", "k"),
    ("ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"),
    ("_ZN2v2L4in_tI2P1EEvPKT_", "in_t"),
    ("_ZN6cutlass7Kernel2I1AEEvNT_6ParamsE", "_ZN6cutlass7Kernel2I1AEEvNT_6ParamsE"),
    ("_ZN7cutlass7Kernel2I1AEEvNT_6ParamsE", "Kernel2"),
    ("", ""),
    ("   ", ""),
    ("<<<<", ""),
    ("((((", ""),
    ("))))>>>>", ""),
    ("::", ""),
]


@pytest.mark.parametrize(("text", "name"), _SPELLINGS)
def test_plain_names(text: str, name: str) -> None:
    assert base_name(text) == name


@pytest.mark.parametrize(
    ("name", "linkage_name", "recorded", "is_fit"),
    [
        ("k", "_ZN1n1kIfEEvPT_", "k", True),
        ("k", "_ZN1n1kIfEEvPT_", "void n::k<float>(float*)", True),
        ("k", "_ZN1n1kIfEEvPT_", "kk", False),
        ("k", "_ZN1n1kIfEEvPT_", "void k::n<float>(float*)", False),
        # Names in compiled code are believed where both are known.
        ("k", "_ZN1n1kIfEEvPT_", "_ZN1n1kIdEEvPT_", False),
        ("k", "", "_ZN1n1kIdEEvPT_", True),
        ("k", "", "k", True),
        ("k", "k", "k", True),
        ("k", "_Z1kPf", hidden("k"), True),
        ("k", "_Z1kPf", hidden("_Z1kPf"), True),
        ("k", "_Z1kPf", hidden("_Z1kPd"), False),
        ("k", "_Z1kPf", "", False),
    ],
)
def test_whether_a_function_may_be_the_recorded_one(name: str, linkage_name: str, recorded: str, is_fit: bool) -> None:
    assert fits(name, linkage_name, recorded) is is_fit


_LETTERS = "_ZNISTLEXJFPKRMDUABCOS0123456789abcdfgilprstvx."


@given(st.text(alphabet=_LETTERS, max_size=60))
@example("S_")
@example("NS_E")
@example("L_Z")
@example("1")
@example("99999a")
@example("1aB")
def test_whatever_is_written_as_a_name_has_a_key(text: str) -> None:
    for symbol in (text, f"_Z{text}", f"_Z1kI{text}EvT_"):
        assert key_of(symbol) == key_of(symbol)
        assert isinstance(base_name(symbol), str)
        assert hidden(hidden(symbol)) == hidden(symbol)


@given(st.text(alphabet="ab_:<>()[]{} ,'&*-operator", max_size=60))
def test_whatever_is_spelled_has_a_plain_name(text: str) -> None:
    name = base_name(text)
    assert name == name.strip()


@pytest.mark.parametrize("seed", range(10))
def test_names_with_a_letter_changed(seed: int) -> None:
    """Broken names are read as others or as nothing."""
    source = random.Random(seed)
    for _, nvcc, _ in _SAME:
        at = source.randrange(2, max(3, len(nvcc)))
        broken = nvcc[:at] + source.choice(_LETTERS) + nvcc[at + 1 :]
        assert isinstance(key_of(broken), str)


@pytest.mark.parametrize(
    "symbol",
    [
        "_Z1k" + "P" * 19_000 + "f",
        "_Z1k" + "I" * 19_000,
        "_Z1kI" + "N1aI" * 4_000,
        "_Z1kIX" + "ad" * 9_000,
        "_Z1k" + "Z1fv" * 4_000,
        "_Z" + "N" * 19_000,
        "_Z1kP1aP" + "S0_P" * 4_000 + "f",
        # Each part has the part before it twice.
        "_Z1k1AIiiE" + "".join(f"1AIS{n}_S{n}_E" for n in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") * 20,
        "void k" + "<" * 19_000,
        "void k" + "(" * 19_000,
        "k<" + "a<(" * 6_000,
        "operator<" * 2_000,
    ],
)
def test_hostile_names_take_no_time(symbol: str) -> None:
    start = time.perf_counter()
    assert len(key_of(symbol)) <= 200_000
    base_name(symbol)
    assert time.perf_counter() - start < 2


def test_parts_that_have_parts_twice_are_short() -> None:
    parts = "".join(f"1AIS{n}_S{n}_E" for n in "123456789ABCDEFGHIJ")
    assert len(spelled_out(f"_Z1k1AIiiE{parts}")) < 2_000


@pytest.mark.parametrize("symbol", ["", "k", "_Z", "_Z0", "_Z9k", "_Z1kS0_", "_Z1kq", "_ZN1k", "_Z1k_", "_Z1kIEE"])
def test_what_is_no_name(symbol: str) -> None:
    with pytest.raises(Unreadable):
        spelled_out(symbol)


@pytest.mark.parametrize(
    ("recorded", "instantiation", "is_one"),
    [
        ("void scale<double, 2>(double*, int)", "scale<double, 2>", True),
        ("void scale<double, (int)2>(T1*, int)", "scale<double, 2>", True),
        ("void scale<double, 22>(double*, int)", "scale<double, 2>", False),
        ("void scale<float, 2>(float*, int)", "scale<double, 2>", False),
        ("void a::k<float const*, (bool)1, (int)-3>(T1)", "k<const float *, true, -3>", True),
        ("void k<std::pair<int, float> >(int)", "k<std::pair<int, float>>", True),
        ("void k<4u, 3ul>()", "k<4, 3>", True),
        ("k(float*)", "k", True),
        ("k(float*)", "k<2>", False),
        ("", "k", True),
        ("", "k<2>", False),
    ],
)
def test_instances_are_known_by_their_arguments(recorded: str, instantiation: str, is_one: bool) -> None:
    assert is_instance(recorded, instantiation) is is_one
