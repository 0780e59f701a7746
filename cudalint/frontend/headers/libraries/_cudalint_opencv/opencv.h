#pragma once
// OpenCV's matrices as far as kernels and their launches lean on them: sizes, types, and where the pixels are.
#pragma clang force_cuda_host_device begin
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>
#include <cuda_runtime.h>

typedef unsigned char uchar;
typedef signed char schar;
typedef unsigned short ushort;
typedef unsigned int uint;

#define CV_CN_SHIFT 3
#define CV_8U 0
#define CV_8S 1
#define CV_16U 2
#define CV_16S 3
#define CV_32S 4
#define CV_32F 5
#define CV_64F 6
#define CV_MAKETYPE(depth, channels) ((depth) + (((channels) - 1) << CV_CN_SHIFT))
#define CV_8UC1 CV_MAKETYPE(CV_8U, 1)
#define CV_8UC2 CV_MAKETYPE(CV_8U, 2)
#define CV_8UC3 CV_MAKETYPE(CV_8U, 3)
#define CV_8UC4 CV_MAKETYPE(CV_8U, 4)
#define CV_16UC1 CV_MAKETYPE(CV_16U, 1)
#define CV_16SC1 CV_MAKETYPE(CV_16S, 1)
#define CV_32SC1 CV_MAKETYPE(CV_32S, 1)
#define CV_32FC1 CV_MAKETYPE(CV_32F, 1)
#define CV_32FC2 CV_MAKETYPE(CV_32F, 2)
#define CV_32FC3 CV_MAKETYPE(CV_32F, 3)
#define CV_32FC4 CV_MAKETYPE(CV_32F, 4)
#define CV_64FC1 CV_MAKETYPE(CV_64F, 1)
#define CV_PI 3.1415926535897932384626433832795
#define CV_Assert(expression) do { if (!(expression)) abort(); } while (0)
#define CV_LOAD_IMAGE_UNCHANGED -1
#define CV_LOAD_IMAGE_GRAYSCALE 0
#define CV_LOAD_IMAGE_COLOR 1
#define CV_BGR2GRAY 6
#define CV_RGB2GRAY 7
#define CV_BGR2RGBA 2
#define CV_RGBA2BGR 3
#define CV_WINDOW_AUTOSIZE 1

namespace cv {
typedef std::string String;
using ::schar;
using ::uchar;
using ::ushort;

template <class _T> struct Point_ {
    _T x, y;
    Point_() = default;
    Point_(_T _x, _T _y) : x(_x), y(_y) {}
};
typedef Point_<int> Point, Point2i;
typedef Point_<float> Point2f;
typedef Point_<double> Point2d;
template <class _T> struct Size_ {
    _T width, height;
    Size_() = default;
    Size_(_T _width, _T _height) : width(_width), height(_height) {}
    _T area() const { return width * height; }
    bool operator==(const Size_ &_other) const { return width == _other.width && height == _other.height; }
    bool operator!=(const Size_ &_other) const { return !(*this == _other); }
};
typedef Size_<int> Size, Size2i;
typedef Size_<float> Size2f;
template <class _T> struct Rect_ {
    _T x, y, width, height;
    Rect_() = default;
    Rect_(_T _x, _T _y, _T _width, _T _height) : x(_x), y(_y), width(_width), height(_height) {}
};
typedef Rect_<int> Rect;
template <class _T, int _N> struct Vec {
    _T val[_N];
    Vec() = default;
    template <class... _A> Vec(_A... _values) : val{_T(_values)...} {}
    _T &operator[](int _i) { return val[_i]; }
    const _T &operator[](int _i) const { return val[_i]; }
};
typedef Vec<uchar, 2> Vec2b;
typedef Vec<uchar, 3> Vec3b;
typedef Vec<uchar, 4> Vec4b;
typedef Vec<int, 2> Vec2i;
typedef Vec<int, 3> Vec3i;
typedef Vec<float, 2> Vec2f;
typedef Vec<float, 3> Vec3f;
typedef Vec<float, 4> Vec4f;
typedef Vec<double, 3> Vec3d;
template <class _T> struct Scalar_ : Vec<_T, 4> {
    using Vec<_T, 4>::Vec;
};
typedef Scalar_<double> Scalar;

struct MatStep {
    size_t buf[2];
    operator size_t() const { return buf[0]; }
    size_t operator[](int _i) const { return buf[_i]; }
};
struct Mat {
    int flags, dims, rows, cols;
    uchar *data;
    MatStep step;
    Mat();
    Mat(int _rows, int _cols, int _type);
    Mat(int _rows, int _cols, int _type, const Scalar &);
    Mat(int _rows, int _cols, int _type, void *_data, size_t _step = 0);
    Mat(Size, int _type);
    Mat(Size, int _type, const Scalar &);
    Mat(Size, int _type, void *_data, size_t _step = 0);
    void create(int _rows, int _cols, int _type);
    void create(Size, int _type);
    Size size() const { return Size(cols, rows); }
    int type() const;
    int depth() const;
    int channels() const;
    size_t total() const { return (size_t)rows * cols; }
    size_t elemSize() const;
    size_t elemSize1() const;
    size_t step1(int = 0) const;
    bool empty() const;
    bool isContinuous() const;
    void release();
    Mat clone() const;
    void copyTo(Mat &) const;
    void convertTo(Mat &, int _type, double _scale = 1, double _shift = 0) const;
    Mat reshape(int _channels, int _rows = 0) const;
    Mat operator()(const Rect &) const;
    Mat &operator=(const Scalar &);
    Mat &setTo(const Scalar &);
    Mat row(int) const;
    Mat col(int) const;
    Mat t() const;
    uchar *ptr(int _row = 0);
    const uchar *ptr(int _row = 0) const;
    template <class _T> _T *ptr(int _row = 0);
    template <class _T> const _T *ptr(int _row = 0) const;
    template <class _T> _T &at(int _row);
    template <class _T> _T &at(int _row, int _col);
    template <class _T> _T &at(Point);
    template <class _T> const _T &at(int _row, int _col) const;
    static Mat zeros(int _rows, int _cols, int _type);
    static Mat zeros(Size, int _type);
    static Mat ones(int _rows, int _cols, int _type);
    static Mat eye(int _rows, int _cols, int _type);
};
template <class _T> struct Mat_ : Mat {
    Mat_();
    Mat_(const Mat &);
    Mat_(int _rows, int _cols);
    Mat_(int _rows, int _cols, const _T &);
    _T &operator()(int _row, int _col);
    _T *operator[](int _row);
};
std::ostream &operator<<(std::ostream &, const Mat &);

enum ImreadModes { IMREAD_UNCHANGED = -1, IMREAD_GRAYSCALE = 0, IMREAD_COLOR = 1, IMREAD_ANYDEPTH = 2, IMREAD_ANYCOLOR = 4 };
enum WindowFlags { WINDOW_NORMAL = 0, WINDOW_AUTOSIZE = 1, WINDOW_OPENGL = 4096 };
enum ColorConversionCodes {
    COLOR_BGR2BGRA = 0, COLOR_RGB2RGBA = 0, COLOR_BGRA2BGR = 1, COLOR_RGBA2RGB = 1, COLOR_BGR2RGBA = 2, COLOR_RGBA2BGR = 3,
    COLOR_BGR2RGB = 4, COLOR_RGB2BGR = 4, COLOR_BGRA2RGBA = 5, COLOR_BGR2GRAY = 6, COLOR_RGB2GRAY = 7, COLOR_GRAY2BGR = 8,
    COLOR_GRAY2RGB = 8, COLOR_GRAY2BGRA = 9, COLOR_BGRA2GRAY = 10, COLOR_RGBA2GRAY = 11, COLOR_BGR2HSV = 40,
    COLOR_HSV2BGR = 54
};
enum InterpolationFlags { INTER_NEAREST = 0, INTER_LINEAR = 1, INTER_CUBIC = 2, INTER_AREA = 3 };
enum BorderTypes { BORDER_CONSTANT = 0, BORDER_REPLICATE = 1, BORDER_REFLECT = 2, BORDER_REFLECT_101 = 4, BORDER_DEFAULT = 4 };
enum NormTypes { NORM_INF = 1, NORM_L1 = 2, NORM_L2 = 4, NORM_MINMAX = 32 };
enum VideoCaptureProperties {
    CAP_PROP_FRAME_WIDTH = 3, CAP_PROP_FRAME_HEIGHT = 4, CAP_PROP_FPS = 5, CAP_PROP_FOURCC = 6, CAP_PROP_FRAME_COUNT = 7
};

Mat imread(const String &, int = IMREAD_COLOR);
template <class... _A> bool imwrite(const String &, const Mat &, const _A &...);
template <class... _A> void imshow(const String &, const _A &...);
void namedWindow(const String &, int = WINDOW_AUTOSIZE);
void destroyAllWindows();
void destroyWindow(const String &);
int waitKey(int = 0);
template <class... _A> void cvtColor(const Mat &, Mat &, int, const _A &...);
template <class... _A> void resize(const Mat &, Mat &, Size, const _A &...);
template <class... _A> void GaussianBlur(const Mat &, Mat &, Size, const _A &...);
template <class... _A> void blur(const Mat &, Mat &, Size, const _A &...);
template <class... _A> void Sobel(const Mat &, Mat &, const _A &...);
template <class... _A> void filter2D(const Mat &, Mat &, const _A &...);
template <class... _A> double threshold(const Mat &, Mat &, const _A &...);
template <class... _A> void copyMakeBorder(const Mat &, Mat &, const _A &...);
template <class... _A> void normalize(const Mat &, Mat &, const _A &...);
template <class... _A> void putText(Mat &, const String &, const _A &...);
template <class... _A> void rectangle(Mat &, const _A &...);
template <class... _A> void circle(Mat &, const _A &...);
template <class... _A> void line(Mat &, const _A &...);
template <class... _A> double norm(const Mat &, const _A &...);
void split(const Mat &, std::vector<Mat> &);
void merge(const std::vector<Mat> &, Mat &);
void absdiff(const Mat &, const Mat &, Mat &);
void randu(Mat &, const Scalar &, const Scalar &);
int64_t getTickCount();
double getTickFrequency();
template <class _T, class _V> _T saturate_cast(_V);

struct VideoCapture {
    VideoCapture();
    VideoCapture(int);
    VideoCapture(const String &);
    bool isOpened() const;
    bool read(Mat &);
    VideoCapture &operator>>(Mat &);
    double get(int) const;
    bool set(int, double);
    void release();
};
struct VideoWriter {
    VideoWriter();
    VideoWriter(const String &, int, double, Size, bool = true);
    static int fourcc(char, char, char, char);
    bool isOpened() const;
    void write(const Mat &);
    VideoWriter &operator<<(const Mat &);
    void release();
};

namespace cuda {
struct Stream {
    Stream();
    void waitForCompletion();
    static Stream &Null();
};
struct StreamAccessor {
    static cudaStream_t getStream(const Stream &);
};
template <class _T> struct PtrStep {
    typedef _T elem_type;
    _T *data;
    size_t step;
    _T *ptr(int _y = 0) { return (_T *)((char *)data + _y * step); }
    const _T *ptr(int _y = 0) const { return (const _T *)((const char *)data + _y * step); }
    _T &operator()(int _y, int _x) { return ptr(_y)[_x]; }
    const _T &operator()(int _y, int _x) const { return ptr(_y)[_x]; }
    operator _T *() const { return data; }
};
template <class _T> struct PtrStepSz : PtrStep<_T> {
    int cols, rows;
};
typedef PtrStepSz<unsigned char> PtrStepSzb;
typedef PtrStepSz<float> PtrStepSzf;
typedef PtrStepSz<int> PtrStepSzi;
typedef PtrStep<unsigned char> PtrStepb;
typedef PtrStep<float> PtrStepf;
struct GpuMat {
    int flags, rows, cols;
    size_t step;
    uchar *data;
    GpuMat();
    GpuMat(int _rows, int _cols, int _type);
    GpuMat(Size, int _type);
    GpuMat(const Mat &);
    void create(int _rows, int _cols, int _type);
    void create(Size, int _type);
    void upload(const Mat &);
    void upload(const Mat &, Stream &);
    void download(Mat &) const;
    void download(Mat &, Stream &) const;
    Size size() const { return Size(cols, rows); }
    int type() const;
    int channels() const;
    size_t elemSize() const;
    bool empty() const;
    bool isContinuous() const;
    void release();
    GpuMat clone() const;
    void copyTo(GpuMat &) const;
    GpuMat &setTo(const Scalar &);
    uchar *ptr(int _y = 0);
    const uchar *ptr(int _y = 0) const;
    template <class _T> _T *ptr(int _y = 0);
    template <class _T> const _T *ptr(int _y = 0) const;
    template <class _T> operator PtrStepSz<_T>() const;
    template <class _T> operator PtrStep<_T>() const;
};
int getCudaEnabledDeviceCount();
void setDevice(int);
}  // namespace cuda
namespace gpu = cuda;
}  // namespace cv
#pragma clang force_cuda_host_device end
