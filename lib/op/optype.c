/* optype.c - the names of OpenVINO's operators, opset1 .. opset17, sorted without
 * regard to case. */
#include "op/optype.h"

#include <strings.h>

/* clang-format off */
static const char *const names[OPTYPE_COUNT] = {
	"Abs", "Acos", "Acosh", "AdaptiveAvgPool", "AdaptiveMaxPool", "Add", "Asin", "Asinh",
	"Assign", "Atan", "Atanh", "AUGRUCell", "AUGRUSequence", "AvgPool", "BatchNormInference",
	"BatchToSpace", "BGRtoNV12", "BinaryConvolution", "BitwiseAnd", "BitwiseLeftShift",
	"BitwiseNot", "BitwiseOr", "BitwiseRightShift", "BitwiseXor", "Broadcast", "Bucketize",
	"Ceiling", "Clamp", "Col2Im", "Concat", "Const", "Convert", "ConvertLike",
	"ConvertPromoteTypes", "Convolution", "ConvolutionBackpropData", "Cos", "Cosh",
	"CTCGreedyDecoder", "CTCGreedyDecoderSeqLen", "CTCLoss", "CumSum",
	"DeformableConvolution", "DeformablePSROIPooling", "DepthToSpace", "DetectionOutput",
	"DFT", "Divide", "Einsum", "Elu", "EmbeddingBagOffsets", "EmbeddingBagOffsetsSum",
	"EmbeddingBagPacked", "EmbeddingBagPackedSum", "EmbeddingSegmentsSum", "Equal", "Erf",
	"ErfInv", "Exp", "ExperimentalDetectronDetectionOutput",
	"ExperimentalDetectronGenerateProposalsSingleImage",
	"ExperimentalDetectronPriorGridGenerator", "ExperimentalDetectronROIFeatureExtractor",
	"ExperimentalDetectronTopKROIs", "ExtractImagePatches", "Eye", "FakeConvert",
	"FakeQuantize", "Floor", "FloorMod", "Gather", "GatherElements", "GatherND",
	"GatherTree", "Gelu", "GenerateProposals", "Greater", "GreaterEqual", "GridSample",
	"GRN", "GroupConvolution", "GroupConvolutionBackpropData", "GroupedMatMul",
	"GroupNormalization", "GRUCell", "GRUSequence", "HardSigmoid", "HSigmoid", "HSwish",
	"I420toBGR", "I420toRGB", "Identity", "IDFT", "If", "Interpolate", "Inverse", "IRDFT",
	"IsFinite", "IsInf", "IsNaN", "ISTFT", "Less", "LessEqual", "Log", "LogicalAnd",
	"LogicalNot", "LogicalOr", "LogicalXor", "LogSoftmax", "Loop", "LRN", "LSTMCell",
	"LSTMSequence", "MatMul", "MatrixNms", "Maximum", "MaxPool", "Minimum", "Mish", "Mod",
	"MulticlassNms", "Multinomial", "Multiply", "MVN", "Negative", "NMSRotated",
	"NonMaxSuppression", "NonZero", "NormalizeL2", "NotEqual", "NV12toBGR", "NV12toRGB",
	"OneHot", "Pad", "Parameter", "Power", "PReLU", "PriorBox", "PriorBoxClustered",
	"Proposal", "PSROIPooling", "RandomUniform", "Range", "RDFT", "ReadValue", "ReduceL1",
	"ReduceL2", "ReduceLogicalAnd", "ReduceLogicalOr", "ReduceMax", "ReduceMean",
	"ReduceMin", "ReduceProd", "ReduceSum", "RegionYolo", "ReLU", "ReorgYolo", "Reshape",
	"Result", "Reverse", "ReverseSequence", "RGBtoNV12", "RNNCell", "RNNSequence",
	"ROIAlign", "ROIAlignRotated", "ROIPooling", "Roll", "Round",
	"ScaledDotProductAttention", "ScatterElementsUpdate", "ScatterNDUpdate", "ScatterUpdate",
	"SearchSorted", "SegmentMax", "Select", "Selu", "ShapeOf", "ShuffleChannels", "Sigmoid",
	"Sign", "Sin", "Sinh", "Slice", "SliceScatter", "SoftMax", "SoftPlus", "SoftSign",
	"SpaceToBatch", "SpaceToDepth", "SparseFillEmptyRows", "Split", "Sqrt",
	"SquaredDifference", "Squeeze", "STFT", "StridedSlice", "StringTensorPack",
	"StringTensorUnpack", "Subtract", "Swish", "Tan", "Tanh", "TensorIterator", "Tile",
	"TopK", "Transpose", "Unique", "Unsqueeze", "VariadicSplit", "Xor"
};
/* clang-format on */

/* Spellings that differ by more than case. */
static const char *const aliases[][2] = {{"Constant", "Const"}};

int optype_find(const char *name)
{
	for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
		if (strcasecmp(name, aliases[i][0]) == 0)
			name = aliases[i][1];
	int lo = 0, hi = OPTYPE_COUNT - 1;
	while (lo <= hi) {
		int mid = lo + (hi - lo) / 2, c = strcasecmp(name, names[mid]);
		if (c == 0)
			return mid;
		if (c < 0)
			hi = mid - 1;
		else
			lo = mid + 1;
	}
	return -1;
}

const char *optype_name(int i)
{
	return i >= 0 && i < OPTYPE_COUNT ? names[i] : "other";
}
